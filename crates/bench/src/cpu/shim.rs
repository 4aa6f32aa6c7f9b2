//! Generated C that calls a function of any signature through an array of pointers.

use hotloop_flow::interface::{Arg, Function, Role};
use hotloop_flow::language::c::{prototype, type_name};

/// `hotloop_call(args)`: calls the candidate's entry point.
pub(crate) fn candidate(function: &Function) -> String {
    let call = format!("{}({})", function.entry, values(function, 0).join(", "));
    let body = match function
        .args
        .iter()
        .position(|arg| arg.role == Role::Return)
    {
        Some(index) => format!(
            "*({} *)a[{index}] = {call};",
            type_name(function.args[index].kind)
        ),
        None => format!("{call};"),
    };
    // Objects are linked without the compiler's start files, which would define the handle that
    // static storage with destructors needs.
    let handle = "__attribute__((weak, visibility(\"hidden\"))) void *__dso_handle;";
    format!(
        "{handle}\n{};\nvoid hotloop_call(void *const *a) {{ {body} }}\n",
        prototype(function, &function.entry)
    )
}

/// `hotloop_reference`, `hotloop_check` and `hotloop_point`: call the task's trusted functions.
pub(crate) fn trusted(function: &Function) -> String {
    let read = parameters(function, |arg| format!("const {} *", type_name(arg.kind)));
    let written: Vec<String> = function
        .args
        .iter()
        .flat_map(|arg| match arg.role {
            Role::Scalar => vec![type_name(arg.kind).to_owned()],
            Role::In => vec![format!("const {} *", type_name(arg.kind))],
            Role::Out | Role::Inout | Role::Return => {
                vec![format!("{} *", type_name(arg.kind)), "double *".to_owned()]
            }
        })
        .collect();
    let (read, written) = (read.join(", "), written.join(", "));
    let (plain, with_scale) = (
        pointers(function, 0).join(", "),
        pointers(function, 1).join(", "),
    );
    format!(
        "void reference({written});\n\
         double check({read}, const double *) __attribute__((weak));\n\
         double point({read}, long) __attribute__((weak));\n\
         void hotloop_reference(void *const *a) {{ reference({with_scale}); }}\n\
         int hotloop_has_check(void) {{ return check != 0; }}\n\
         int hotloop_has_point(void) {{ return point != 0; }}\n\
         double hotloop_check(void *const *a, const double *x) {{ return check({plain}, x); }}\n\
         double hotloop_point(void *const *a, long i) {{ return point({plain}, i); }}\n"
    )
}

fn parameters(function: &Function, buffer: impl Fn(&Arg) -> String) -> Vec<String> {
    let of = |arg: &Arg| {
        if arg.is_buffer() {
            buffer(arg)
        } else {
            type_name(arg.kind).to_owned()
        }
    };
    function.args.iter().map(of).collect()
}

/// The arguments of the candidate, without the return value.
fn values(function: &Function, extra_per_output: usize) -> Vec<String> {
    let count = function
        .args
        .iter()
        .filter(|arg| arg.role != Role::Return)
        .count();
    pointers(function, extra_per_output)
        .into_iter()
        .take(count)
        .collect()
}

/// `a[i]` for each argument, with `extra_per_output` more entries after each output.
fn pointers(function: &Function, extra_per_output: usize) -> Vec<String> {
    let mut index = 0;
    let mut list = Vec::new();
    for arg in &function.args {
        let entries = 1 + if arg.is_output() { extra_per_output } else { 0 };
        for _ in 0..entries {
            list.push(match arg.role {
                Role::Scalar => format!("*(const {} *)a[{index}]", type_name(arg.kind)),
                Role::In | Role::Out | Role::Inout | Role::Return => format!("a[{index}]"),
            });
            index += 1;
        }
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(args: &str) -> Function {
        let toml = format!(
            "name = \"t\"\nsummary = \"\"\nlanguage = \"c\"\nentry = \"f\"\n{args}\n[sizes]\ntimed = {{ N = 4 }}\n\
             [cost]\nflops = \"N\"\nbytes = \"N\"\n[verify]\nmethod = \"full\"\nbound = \"1\"\nwhy = \"\"\n"
        );
        hotloop_flow::Task::parse(hotloop_flow::task::TaskFiles {
            toml,
            ..Default::default()
        })
        .unwrap()
        .function()
        .clone()
    }

    #[test]
    fn scalars_go_by_value_and_returns_are_stored() {
        let function = function(
            "[[args]]\nname = \"x\"\ntype = \"f32\"\nrole = \"in\"\nshape = [\"N\"]\nfill = { uniform = [0.0, 1.0] }\n\
             [[args]]\nname = \"n\"\ntype = \"i64\"\nrole = \"scalar\"\nvalue = \"N\"\n\
             [[args]]\nname = \"sum\"\ntype = \"f64\"\nrole = \"return\"",
        );
        let code = candidate(&function);
        assert!(code.contains("double f(float *x, long long n);"), "{code}");
        assert!(
            code.contains("*(double *)a[2] = f(a[0], *(const long long *)a[1]);"),
            "{code}"
        );
        let code = trusted(&function);
        assert!(
            code.contains("void reference(const float *, long long, double *, double *);"),
            "{code}"
        );
        assert!(
            code.contains("reference(a[0], *(const long long *)a[1], a[2], a[3]);"),
            "{code}"
        );
    }
}
