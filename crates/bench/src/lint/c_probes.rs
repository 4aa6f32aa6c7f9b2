//! Bad answers to a task in C, generated from its signature and its reference.

use std::fmt::Write;

use hotloop_flow::Task;
use hotloop_flow::interface::{Arg, Kind, Role};
use hotloop_flow::language::c::type_name;

use crate::lint::probe::{Expect, Probe, bad, elements, outputs};

/// All probes that fit the task.
pub(crate) fn all(task: &Task) -> Vec<Probe> {
    let mut probes = vec![
        bad(
            "nothing written",
            "a candidate that writes nothing passes",
            plain(task, |_| String::new()),
        ),
        bad(
            "zeros",
            "a candidate that writes zeros passes",
            plain(task, |_| "0".to_owned()),
        ),
        bad(
            "ones",
            "a candidate that writes a constant passes",
            plain(task, |_| "1".to_owned()),
        ),
    ];
    probes.extend(copies(task));
    probes.push(Probe {
        about: "reference".to_owned(),
        expect: Expect::Success,
        then: "passes its own check, with scales that are sound",
        otherwise: "does not pass its own check, or its scales are not finite, negative, or all \
            zero",
        source: sane(task),
    });
    let has_doubles = task
        .function()
        .args
        .iter()
        .any(|arg| arg.is_output() && arg.kind == Kind::F64);
    if has_doubles {
        let single = by_reference(task, |arg| match arg.kind {
            Kind::F64 => format!("{0}[i] = (float){0}[i];", name(arg)),
            Kind::F32 | Kind::F16 | Kind::Bf16 | Kind::I32 | Kind::I64 => String::new(),
        });
        probes.push(bad(
            "single precision",
            "the right answer rounded to single precision passes: the bound is too loose",
            single,
        ));
    }
    let off = by_reference(task, |arg| {
        let name = name(arg);
        format!(
            "if (i == {} / 2) {name}[i] = {name}[i] == 0 ? 1 : {name}[i] * 1.001 + ({name}[i] * 1.001 == {name}[i]);",
            count(arg)
        )
    });
    probes.push(bad(
        "one element off",
        "one element that is wrong by a thousandth passes",
        off,
    ));
    probes.push(bad(
        "answer of the last call",
        "other inputs give (nearly) the same answer",
        stale(task),
    ));
    probes
}

/// Candidates that copy an input to the outputs, one for each input.
fn copies(task: &Task) -> impl Iterator<Item = Probe> {
    let inputs = task
        .function()
        .args
        .iter()
        .filter(|arg| matches!(arg.role, Role::In | Role::Inout));
    inputs.map(move |input| {
        let (name, count) = (&input.name, count(input));
        // An in-out argument is already its own copy.
        let copy = |output: &Arg| {
            if output.name == *name {
                String::new()
            } else {
                format!("{name}[i % {count}]")
            }
        };
        bad(
            &format!("copy of {name}"),
            "a candidate that copies an input passes",
            plain(task, copy),
        )
    })
}

/// The name of an output in the generated code. A return value is a local array of one.
fn name(arg: &Arg) -> String {
    if arg.role == Role::Return {
        "returned".to_owned()
    } else {
        arg.name.clone()
    }
}

fn count(arg: &Arg) -> String {
    if arg.role == Role::Return {
        "1L".to_owned()
    } else {
        format!("count_{}", arg.name)
    }
}

/// The entry point around `body`, with the number of elements of every buffer in a variable.
fn entry(task: &Task, body: &str) -> String {
    let function = task.function();
    let mut code = format!("{} {{\n", task.signature());
    let returned = function.returned();
    if let Some(arg) = returned {
        let _ = writeln!(code, "    {} returned[1] = {{0}};", type_name(arg.kind));
    }
    for arg in function
        .args
        .iter()
        .filter(|arg| matches!(arg.role, Role::In | Role::Out | Role::Inout))
    {
        let _ = writeln!(
            code,
            "    long count_{0} = {1}; (void)count_{0};",
            arg.name,
            elements(task, arg)
        );
    }
    code.push_str(body);
    if returned.is_some() {
        code.push_str("    return returned[0];\n");
    }
    code.push_str("}\n");
    code
}

fn loops(task: &Task, statement: impl Fn(&Arg) -> String) -> String {
    let mut code = String::new();
    for arg in outputs(task) {
        let statement = statement(arg);
        if !statement.is_empty() {
            let _ = writeln!(
                code,
                "    for (long i = 0; i < {}; i++) {{ {statement} }}",
                count(arg)
            );
        }
    }
    code
}

/// A candidate that writes `value(output)` into every element of every output.
fn plain(task: &Task, value: impl Fn(&Arg) -> String) -> String {
    let body = loops(task, |arg| {
        let value = value(arg);
        if value.is_empty() {
            value
        } else {
            format!("{}[i] = {value};", name(arg))
        }
    });
    entry(task, &body)
}

/// The reference with other names, to avoid clashes.
fn reference(task: &Task) -> String {
    format!(
        "#include <math.h>\n#include <stdlib.h>\n#include <string.h>\n\
         #define reference task_reference\n#define check task_check\n#define point task_point\n\
         {}\n#undef reference\n#undef check\n#undef point\n",
        task.reference
    )
}

/// Calls the reference with the outputs and separate scales.
fn call(task: &Task) -> String {
    let sets =
        || std::iter::once(&task.function().sizes.timed).chain(&task.function().sizes.hidden);
    let mut code = String::new();
    let mut values = Vec::new();
    for arg in &task.function().args {
        values.push(name(arg));
        if arg.is_output() {
            let most = sets()
                .filter_map(|sizes| arg.elements(sizes).ok())
                .max()
                .unwrap_or(1)
                .max(1);
            let name = name(arg);
            let _ = writeln!(code, "    static double *scale_{name};");
            let _ = writeln!(
                code,
                "    if (!scale_{name}) scale_{name} = malloc({most} * sizeof(double));"
            );
            values.push(format!("scale_{name}"));
        }
    }
    let _ = writeln!(code, "    task_reference({});", values.join(", "));
    code
}

/// The correct answer, spoilt by `statement` for each element of each output.
fn by_reference(task: &Task, statement: impl Fn(&Arg) -> String) -> String {
    let body = call(task) + &loops(task, statement);
    reference(task) + &entry(task, &body)
}

/// The correct answer, unless its scales are not sound.
fn sane(task: &Task) -> String {
    let timed = &task.function().sizes.timed;
    let exact = task.bound(timed) == 0.0;
    let mut body = call(task);
    for arg in outputs(task) {
        let (name, count) = (name(arg), count(arg));
        let _ = writeln!(body, "    {{ int bad = 0, scaled = 0, nonzero = 0;");
        let _ = writeln!(body, "    for (long i = 0; i < {count}; i++) {{");
        let _ = writeln!(body, "        double s = scale_{name}[i];");
        let _ = writeln!(
            body,
            "        bad |= !(s >= 0 && s <= 1e300); scaled |= s > 0; nonzero |= {name}[i] != 0; }}"
        );
        // A bound of zero means equality and needs no scale. A tiny problem may consist of boundary
        // only.
        let elements = arg.elements(timed).unwrap_or(1);
        let all_zero = if exact {
            "0".to_owned()
        } else {
            format!("{count} == {elements} && nonzero && !scaled")
        };
        let _ = writeln!(
            body,
            "    if (bad || ({all_zero})) {name}[0] = {name}[0] == 0 ? 1 : -{name}[0]; }}"
        );
    }
    reference(task) + &entry(task, &body)
}

/// Computes once, and returns the same answer for other inputs of the same size.
fn stale(task: &Task) -> String {
    let mut body = String::from("    static int calls;\n    calls++;\n");
    let mut again = String::new();
    for arg in outputs(task) {
        let (name, count, kind) = (name(arg), count(arg), type_name(arg.kind));
        let _ = writeln!(
            body,
            "    static {kind} *kept_{name}; static long number_{name};"
        );
        let _ = writeln!(
            again,
            "    if (calls > 1 && number_{name} == {count}) memcpy({name}, kept_{name}, {count} * sizeof({kind}));"
        );
        let _ = writeln!(
            again,
            "    if (calls == 1 && (kept_{name} = malloc({count} * sizeof({kind})))) {{"
        );
        let _ = writeln!(
            again,
            "        number_{name} = {count}; memcpy(kept_{name}, {name}, {count} * sizeof({kind})); }}"
        );
    }
    body = body + &call(task) + &again;
    reference(task) + &entry(task, &body)
}
