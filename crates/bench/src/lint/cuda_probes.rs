//! Bad answers to a task in CUDA, generated from its signature and its reference.

use std::fmt::Write;

use hotloop_flow::Task;
use hotloop_flow::interface::{Arg, Kind, Role};
use hotloop_flow::language::c::type_name;

use crate::lint::probe::{Expect, Probe, bad, elements, outputs};

/// All probes that fit the task.
pub(super) fn all(task: &Task) -> Vec<Probe> {
    let plain = |value: &str| Writer::plain(task).each(|_| format!("= {value};"));
    let mut probes = vec![
        bad(
            "nothing written",
            "a candidate that writes nothing passes",
            Writer::plain(task).each(|_| String::new()),
        ),
        bad("zeros", "a candidate that writes zeros passes", plain("0")),
        bad(
            "ones",
            "a candidate that writes a constant passes",
            plain("1"),
        ),
    ];
    let inputs = task.function().args.iter();
    for input in inputs.filter(|arg| arg.role == Role::In) {
        let name = &input.name;
        probes.push(bad(
            &format!("copy of {name}"),
            "a candidate that copies an input passes",
            Writer::plain(task).each(|out| {
                let number = number(input, &format!("{name}[i % count_{name}]"));
                format!("= {};", cast(out, &number))
            }),
        ));
    }
    probes.push(Probe {
        about: "reference".to_owned(),
        expect: Expect::Success,
        then: "passes its own check, with scales that are sound",
        otherwise: "does not pass its own check, or its scales are not finite, negative, or all \
            zero",
        source: sane(task),
    });
    let is_wide = |arg: &Arg| matches!(arg.kind, Kind::F64 | Kind::F32);
    if outputs(task).any(is_wide) {
        probes.push(bad(
            "half precision",
            "the right answer rounded to half precision passes: the bound is too loose",
            Writer::right(task).each(|out| {
                let right = format!("right_{}[i]", out.name);
                if is_wide(out) {
                    format!("= __half2float(__float2half((float){right}));")
                } else {
                    format!("= {};", cast(out, &right))
                }
            }),
        ));
    }
    probes.push(bad(
        "one element off",
        "one element that is wrong by a thousandth passes",
        Writer::right(task).each(off),
    ));
    probes.push(bad(
        "answer of the last call",
        "other inputs give (nearly) the same answer",
        stale(task),
    ));
    probes
}

/// An element as a double.
fn number(arg: &Arg, element: &str) -> String {
    match arg.kind {
        Kind::F16 => format!("(double)__half2float({element})"),
        Kind::Bf16 => format!("(double)__bfloat162float({element})"),
        Kind::F64 | Kind::F32 | Kind::I32 | Kind::I64 => format!("(double){element}"),
    }
}

/// A double as an element.
fn cast(arg: &Arg, number: &str) -> String {
    match arg.kind {
        Kind::F16 => format!("__float2half((float)({number}))"),
        Kind::Bf16 => format!("__float2bfloat16((float)({number}))"),
        Kind::F64 | Kind::F32 | Kind::I32 | Kind::I64 => {
            format!("({})({number})", type_name(arg.kind))
        }
    }
}

/// One element is off by a thousandth, or by one where that is nothing.
fn off(out: &Arg) -> String {
    let name = &out.name;
    let right = format!("right_{name}[i]");
    let off = cast(out, &format!("{right} * 1.001 + ({right} < 1000)"));
    let right = cast(out, &right);
    format!("= i == count_{name} / 2 ? {off} : {right};")
}

/// Writes a candidate with one kernel for each output.
struct Writer<'a> {
    task: &'a Task,
    /// Whether the reference runs first, into `right_OUT` and `scale_OUT`.
    has_right: bool,
    /// Code before the kernels.
    head: String,
    /// Code of the host after the reference, and after all kernels.
    before: String,
    after: String,
    /// More parameters of the kernels, and the arguments for them.
    more: (&'static str, &'static str),
}

impl<'a> Writer<'a> {
    fn plain(task: &'a Task) -> Self {
        Self {
            task,
            has_right: false,
            head: String::new(),
            before: String::new(),
            after: String::new(),
            more: ("", ""),
        }
    }

    /// With the reference's answer.
    fn right(task: &'a Task) -> Self {
        Self {
            has_right: true,
            ..Self::plain(task)
        }
    }

    /// A kernel that goes over the elements of `out`.
    fn kernel(&self, name: &str, out: &Arg, body: &str) -> String {
        let mut parameters = Vec::new();
        for arg in buffers(self.task) {
            let constant = if arg.is_output() { "" } else { "const " };
            let (kind, name) = (type_name(arg.kind), &arg.name);
            parameters.push(format!("{constant}{kind} *{name}, long long count_{name}"));
            if self.has_right && arg.is_output() {
                parameters.push(format!("const double *right_{name}"));
                parameters.push(format!("const double *scale_{name}"));
            }
        }
        let (parameters, more) = (parameters.join(", "), self.more.0);
        let of = &out.name;
        format!(
            "__global__ void {name}_{of}({parameters}{more}) {{\n    const long long step = (long long)gridDim.x * blockDim.x;\n    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count_{of}; i += step) {{\n        {body}\n    }}\n}}\n\n"
        )
    }

    /// The launch of such a kernel.
    fn launch(&self, name: &str, out: &Arg) -> String {
        let mut arguments = Vec::new();
        for arg in buffers(self.task) {
            let name = &arg.name;
            arguments.push(format!("{name}, count_{name}"));
            if self.has_right && arg.is_output() {
                arguments.push(format!("right_{name}, scale_{name}"));
            }
        }
        let (arguments, more) = (arguments.join(", "), self.more.1);
        format!(
            "    {name}_{}<<<1024, 256>>>({arguments}{more});\n",
            out.name
        )
    }

    /// The candidate that assigns to every element `OUT[i]`. No statement is no kernel.
    fn each(&self, assignment: impl Fn(&Arg) -> String) -> String {
        let (mut kernels, mut launches) = (String::new(), String::new());
        for out in outputs(self.task) {
            let assignment = assignment(out);
            if !assignment.is_empty() {
                let body = format!("{}[i] {assignment}", out.name);
                kernels += &self.kernel("probe_write", out, &body);
                launches += &self.launch("probe_write", out);
            }
        }
        self.whole(&kernels, &launches)
    }

    fn whole(&self, kernels: &str, launches: &str) -> String {
        let mut code = String::from(
            "#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n#include <cuda_runtime.h>\n\n",
        );
        if self.has_right {
            let _ = writeln!(
                code,
                "#define reference task_reference\n#define check task_check\n{}\n#undef reference\n#undef check\n",
                self.task.reference
            );
        }
        let _ = writeln!(code, "{}{kernels}{} {{", self.head, self.task.signature());
        for arg in buffers(self.task) {
            let (name, elements) = (&arg.name, elements(self.task, arg));
            let _ = writeln!(code, "    const long long count_{name} = {elements};");
            let _ = writeln!(code, "    (void)count_{name};");
        }
        if self.has_right {
            code += &self.call();
        }
        code + &self.before + launches + &self.after + "}\n"
    }

    /// The call of the reference.
    fn call(&self) -> String {
        let mut code = String::new();
        let mut values = Vec::new();
        for arg in &self.task.function().args {
            let name = &arg.name;
            if !arg.is_output() {
                values.push(name.clone());
                continue;
            }
            for buffer in ["right", "scale"] {
                let _ = writeln!(code, "    double *{buffer}_{name};");
                let _ = writeln!(
                    code,
                    "    cudaMalloc(&{buffer}_{name}, count_{name} * sizeof(double));"
                );
                values.push(format!("{buffer}_{name}"));
            }
        }
        let _ = writeln!(code, "    task_reference({});", values.join(", "));
        code
    }
}

fn buffers(task: &Task) -> impl Iterator<Item = &Arg> {
    task.function().args.iter().filter(|arg| arg.is_buffer())
}

/// The correct answer, unless its scales are not sound.
fn sane(task: &Task) -> String {
    let timed = &task.function().sizes.timed;
    let mut writer = Writer::right(task);
    writer.more = (", int *flags", ", flags");
    writer.before = "    int *flags;\n    cudaMalloc(&flags, 3 * sizeof(int));\n    cudaMemset(flags, 0, 3 * sizeof(int));\n".into();
    let (mut kernels, mut launches) = (String::new(), String::new());
    for out in outputs(task) {
        let name = &out.name;
        kernels += &writer.kernel(
            "probe_look",
            out,
            &format!(
                "if (!(scale_{name}[i] >= 0 && scale_{name}[i] <= 1e300)) flags[0] = 1;\n        if (scale_{name}[i] > 0) flags[1] = 1;\n        if (right_{name}[i] != 0) flags[2] = 1;"
            ),
        );
        launches += &writer.launch("probe_look", out);
        // A bound of zero means equality and needs no scale. A tiny problem may consist of boundary
        // only.
        let elements = out.elements(timed).unwrap_or(1);
        let all_zero = if task.bound(timed) == 0.0 {
            "false".to_owned()
        } else {
            format!("count_{name} == {elements} && flags[2] && !flags[1]")
        };
        let right = format!("right_{name}[i]");
        let (spoilt, right) = (cast(out, &format!("1 - {right}")), cast(out, &right));
        kernels += &writer.kernel(
            "probe_write",
            out,
            &format!("{name}[i] = flags[0] || ({all_zero}) ? {spoilt} : {right};"),
        );
        launches += &writer.launch("probe_write", out);
    }
    writer.whole(&kernels, &launches)
}

/// Computes once, and returns the same answer for other inputs of the same size.
fn stale(task: &Task) -> String {
    let mut writer = Writer::right(task);
    let sets =
        || std::iter::once(&task.function().sizes.timed).chain(&task.function().sizes.hidden);
    for out in outputs(task) {
        let (name, kind) = (&out.name, type_name(out.kind));
        let most = sets().filter_map(|sizes| out.elements(sizes).ok()).max();
        let most = most.unwrap_or(1).max(1);
        let _ = writeln!(
            writer.head,
            "__device__ {kind} kept_{name}[{most}];\n__device__ long long number_{name};\n__global__ void probe_note_{name}(long long count) {{ number_{name} = count; }}\n"
        );
        let _ = writeln!(
            writer.after,
            "    probe_note_{name}<<<1, 1>>>(count_{name});"
        );
    }
    writer.each(|out| {
        let name = &out.name;
        let right = cast(out, &format!("right_{name}[i]"));
        format!(
            "= number_{name} == count_{name} ? kept_{name}[i] : {right};\n        kept_{name}[i] = {name}[i];"
        )
    })
}

#[cfg(test)]
mod tests {
    use hotloop_flow::{Candidate, Language};

    use super::*;

    #[test]
    fn every_shipped_task_has_probes_that_are_candidates() {
        for name in crate::tasks::shipped_in(Language::Cuda) {
            let task = crate::tasks::load(name).unwrap();
            let probes = all(&task);
            assert!(probes.len() >= 7, "{name}");
            for probe in probes {
                let made = Candidate::from_source(probe.source.as_bytes(), &task);
                let why = made.err().map(|malformed| malformed.why);
                assert_eq!(why, None, "{name}, {}:\n{}", probe.about, probe.source);
            }
        }
    }

    #[test]
    fn lengths_follow_from_whole_numbers() {
        let task = crate::tasks::load("cuda/saxpy").unwrap();
        let x = &task.function().args[1];
        let code = elements(&task, x);
        assert!(code.starts_with("(n == 16777216) ? 16777216L : (n == 1) ?"));
    }
}
