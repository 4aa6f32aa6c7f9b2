//! The prototype of a CUDA task's function, and what its arguments cannot be.

use crate::interface::{Arg, Fill, Function, Role};
use crate::language::c::type_name;

/// `Err` names an argument that CUDA tasks cannot have.
pub fn check(function: &Function) -> Result<(), String> {
    let rule = |arg: &Arg, why: &str| Err(format!("args: `{}` {why}", arg.name));
    for arg in &function.args {
        match (arg.role, &arg.value, &arg.fill) {
            (Role::Inout, ..) => {
                return rule(
                    arg,
                    "is inout, which a task in cuda cannot have: its inputs are read-only",
                );
            }
            (Role::Return, ..) => {
                return rule(
                    arg,
                    "is return, which a task in cuda cannot have: results go to an out buffer",
                );
            }
            (Role::Scalar, Some(_), Some(_)) => {
                return rule(arg, "is a scalar: it has `value` or `fill`, but not both");
            }
            (Role::Scalar, None, Some(Fill::RowPointers { .. } | Fill::Columns { .. })) => {
                return rule(arg, "is a scalar: its `fill` can only be uniform");
            }
            (Role::In | Role::Out | Role::Scalar, ..) => {}
        }
    }
    Ok(())
}

/// `Err` if the first output holds integers, and they need not be equal.
pub fn check_bound(function: &Function, bound: f64) -> Result<(), String> {
    let first = function.args.iter().find(|arg| arg.is_output());
    match first {
        Some(arg) if arg.kind.unit_roundoff().is_none() && bound != 0.0 => Err(format!(
            "verify.bound: `{}` holds integers, which must be equal; write \"0\"",
            arg.name
        )),
        Some(_) | None => Ok(()),
    }
}

/// For example `extern "C" void solve(const float* x, float* y, long long n)`.
pub fn prototype(function: &Function) -> String {
    let parameters: Vec<String> = function
        .parameters()
        .map(|arg| {
            let (name, kind) = (&arg.name, type_name(arg.kind));
            match arg.role {
                Role::In => format!("const {kind}* {name}"),
                Role::Out | Role::Inout | Role::Return => format!("{kind}* {name}"),
                Role::Scalar => format!("{kind} {name}"),
            }
        })
        .collect();
    let (entry, parameters) = (&function.entry, parameters.join(", "));
    format!("extern \"C\" void {entry}({parameters})")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interface::Kind;
    use crate::language::{Language, signature};
    use crate::task::{Task, TaskFiles};

    const RELU: &str = include_str!("../../../tests/data/relu.toml");

    fn parse(toml: &str) -> Result<Task, String> {
        let toml = toml.to_owned();
        Task::parse(TaskFiles {
            toml,
            ..TaskFiles::default()
        })
        .map_err(|error| error.to_string())
    }

    #[test]
    fn a_signature_takes_constant_inputs() {
        let task = parse(RELU).unwrap();
        assert_eq!(
            signature(Language::Cuda, &task.spec.interface),
            "extern \"C\" void solve(const float* x, float* y, long long n)"
        );
        let half = parse(&RELU.replace("\"f32\"", "\"f16\"")).unwrap();
        assert!(half.signature().contains("const __half* x, __half* y"));
    }

    #[test]
    fn arguments_of_other_languages_are_refused() {
        let fails = |from: &str, to: &str, why: &str| {
            assert!(RELU.contains(from), "{from}");
            let error = parse(&RELU.replace(from, to)).unwrap_err();
            assert!(error.contains(why), "{error}");
        };
        let out = "role = \"out\", shape = [\"n\"]";
        let inout = "role = \"inout\", shape = [\"n\"], fill = { uniform = [0.0, 1.0] }";
        fails(out, inout, "`y` is inout, which a task in cuda cannot have");
        let value = "value = \"n\"";
        let both = "value = \"n\", fill = { uniform = [1.0, 2.0] }";
        fails(value, both, "`value` or `fill`, but not both");
        let rows = "fill = { row-pointers = { entries = \"n\" } }";
        fails(value, rows, "can only be uniform");
        fails("cost =", "cache = \"warm\"\ncost =", "no `cache`");
        let integers = RELU.replace(
            "name = \"y\", type = \"f32\"",
            "name = \"y\", type = \"i32\"",
        );
        let error = parse(&integers).unwrap_err();
        assert!(error.contains("`y` holds integers"), "{error}");
        assert!(parse(&integers.replace("bound = \"1\"", "bound = \"0\"")).is_ok());
    }

    #[test]
    fn a_scalar_may_be_drawn() {
        let drawn = RELU.replace("value = \"n\"", "fill = { uniform = [1.0, 9.0] }");
        assert!(parse(&drawn).is_ok());
        let c = drawn.replace("language = \"cuda\"", "language = \"c\"");
        let error = parse(&c).unwrap_err();
        assert!(
            error.contains("`n` is a scalar: it needs `value`"),
            "{error}"
        );
    }

    #[test]
    fn the_unit_of_a_bound_is_the_outputs() {
        for (kind, unit) in [
            ("f32", 2f64.powi(-24)),
            ("f16", 2f64.powi(-11)),
            ("bf16", 2f64.powi(-8)),
            ("f64", 2f64.powi(-53)),
        ] {
            let name = format!("name = \"y\", type = \"{kind}\"");
            let task = parse(&RELU.replace("name = \"y\", type = \"f32\"", &name)).unwrap();
            let bound = task.bound(&task.function().sizes.timed);
            assert_eq!(bound.to_bits(), unit.to_bits(), "{kind}");
        }
    }

    #[test]
    fn kinds_have_names() {
        let names = [Kind::F16, Kind::Bf16, Kind::I64].map(type_name);
        assert_eq!(names, ["__half", "__nv_bfloat16", "long long"]);
    }
}
