//! Generated C that calls a function of any signature through an array of pointers.

use hotloop_flow::task::{Arg, Role, TaskSpec};

/// `hotloop_call(args)`: calls the candidate's entry point.
pub(crate) fn candidate(spec: &TaskSpec) -> String {
    let call = format!("{}({})", spec.entry, values(spec, 0).join(", "));
    let body = match spec.args.iter().position(|arg| arg.role == Role::Return) {
        Some(index) => format!(
            "*({} *)a[{index}] = {call};",
            spec.args[index].kind.c_name()
        ),
        None => format!("{call};"),
    };
    // Objects are linked without the compiler's start files, which would bring the handle that
    // static storage with destructors asks for.
    let handle = "__attribute__((weak, visibility(\"hidden\"))) void *__dso_handle;";
    format!(
        "{handle}\n{};\nvoid hotloop_call(void *const *a) {{ {body} }}\n",
        spec.prototype(&spec.entry)
    )
}

/// `hotloop_reference`, `hotloop_check` and `hotloop_point`: call the task's trusted functions.
pub(crate) fn trusted(spec: &TaskSpec) -> String {
    let read = parameters(spec, |arg| format!("const {} *", arg.kind.c_name()));
    let written: Vec<String> = spec
        .args
        .iter()
        .flat_map(|arg| match arg.role {
            Role::Scalar => vec![arg.kind.c_name().to_owned()],
            Role::In => vec![format!("const {} *", arg.kind.c_name())],
            Role::Out | Role::Inout | Role::Return => {
                vec![format!("{} *", arg.kind.c_name()), "double *".to_owned()]
            }
        })
        .collect();
    let (read, written) = (read.join(", "), written.join(", "));
    let (plain, with_scale) = (pointers(spec, 0).join(", "), pointers(spec, 1).join(", "));
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

fn parameters(spec: &TaskSpec, buffer: impl Fn(&Arg) -> String) -> Vec<String> {
    let of = |arg: &Arg| {
        if arg.is_buffer() {
            buffer(arg)
        } else {
            arg.kind.c_name().to_owned()
        }
    };
    spec.args.iter().map(of).collect()
}

/// The arguments as the candidate takes them: no return value among them.
fn values(spec: &TaskSpec, extra_per_output: usize) -> Vec<String> {
    let count = spec
        .args
        .iter()
        .filter(|arg| arg.role != Role::Return)
        .count();
    pointers(spec, extra_per_output)
        .into_iter()
        .take(count)
        .collect()
}

/// `a[i]` for each argument, `extra_per_output` more entries behind each output.
fn pointers(spec: &TaskSpec, extra_per_output: usize) -> Vec<String> {
    let mut index = 0;
    let mut list = Vec::new();
    for arg in &spec.args {
        let entries = 1 + if arg.is_output() { extra_per_output } else { 0 };
        for _ in 0..entries {
            list.push(match arg.role {
                Role::Scalar => format!("*(const {} *)a[{index}]", arg.kind.c_name()),
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

    fn spec(args: &str) -> TaskSpec {
        let toml = format!(
            "name = \"t\"\nsummary = \"\"\nlanguage = \"c\"\nentry = \"f\"\n{args}\n[sizes]\ntimed = {{ N = 4 }}\n\
             [cost]\nflops = \"N\"\nbytes = \"N\"\n[verify]\nmethod = \"full\"\nbound = \"1\"\nwhy = \"\"\n"
        );
        hotloop_flow::Task::parse(hotloop_flow::task::TaskFiles {
            toml,
            ..Default::default()
        })
        .unwrap()
        .spec
    }

    #[test]
    fn scalars_go_by_value_and_returns_are_stored() {
        let spec = spec(
            "[[args]]\nname = \"x\"\ntype = \"f32\"\nrole = \"in\"\nshape = [\"N\"]\nfill = { uniform = [0.0, 1.0] }\n\
             [[args]]\nname = \"n\"\ntype = \"i64\"\nrole = \"scalar\"\nvalue = \"N\"\n\
             [[args]]\nname = \"sum\"\ntype = \"f64\"\nrole = \"return\"",
        );
        let code = candidate(&spec);
        assert!(code.contains("double f(float *x, long long n);"), "{code}");
        assert!(
            code.contains("*(double *)a[2] = f(a[0], *(const long long *)a[1]);"),
            "{code}"
        );
        let code = trusted(&spec);
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
