//! The C types and prototypes of a task's function.

use crate::interface::{Arg, Function, Kind, Role};

/// The name of an element type in C and in CUDA C++. Only CUDA has half precision.
pub fn type_name(kind: Kind) -> &'static str {
    match kind {
        Kind::F64 => "double",
        Kind::F32 => "float",
        Kind::I32 => "int",
        Kind::I64 => "long long",
        Kind::F16 => "__half",
        Kind::Bf16 => "__nv_bfloat16",
    }
}

/// `Err` names an argument that C tasks cannot have.
pub fn check(function: &Function) -> Result<(), String> {
    let odd = function
        .args
        .iter()
        .find(|arg| matches!(arg.kind, Kind::F16 | Kind::Bf16));
    if let Some(arg) = odd {
        let (name, kind) = (&arg.name, arg.kind);
        return Err(format!(
            "args: `{name}` is {kind}, which a task in c cannot have; it has f64, f32, i32 and i64"
        ));
    }
    let drawn = |arg: &&Arg| arg.role == Role::Scalar && arg.value.is_none();
    function.args.iter().find(drawn).map_or(Ok(()), |arg| {
        Err(format!(
            "args: `{}` is a scalar: it needs `value`, and only a task in cuda may draw it",
            arg.name
        ))
    })
}

/// The prototype of a function named `name` with these arguments, e.g. `void f(double *A, int N)`.
pub fn prototype(function: &Function, name: &str) -> String {
    let returns = function
        .returned()
        .map_or("void", |arg| type_name(arg.kind));
    let parameters: Vec<String> = function
        .parameters()
        .map(|arg| {
            let star = if arg.role == Role::Scalar { "" } else { "*" };
            format!("{} {star}{}", type_name(arg.kind), arg.name)
        })
        .collect();
    format!("{returns} {name}({})", parameters.join(", "))
}
