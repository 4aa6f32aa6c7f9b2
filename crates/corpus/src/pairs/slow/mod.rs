//! Takes optimisations out of a kernel, one step at a time. Each step keeps the kernels' names and
//! parameters and what they compute, and its name describes what the fast side has.

mod edit;
mod plain;
mod shared;

use hotloop_flow::Language;
use hotloop_flow::language::normalise;

use super::compile::Compile;
use super::outline::Outline;
use super::side::Side;

/// A step: how the fast side is described by it, and what it does to a unit. It returns `None`
/// where there is nothing to do.
type Step = (&'static str, fn(&str) -> Option<String>);

/// All steps, those that change least first.
const STEPS: [Step; 8] = [
    ("unrolls its loops by hand or by pragma", plain::rolled),
    ("loads through the read-only cache", plain::without_ldg),
    (
        "tells the compiler that pointers do not alias",
        plain::without_restrict,
    ),
    ("bounds the registers of a thread", plain::without_bounds),
    (
        "uses intrinsics instead of plain arithmetic",
        plain::without_intrinsics,
    ),
    (
        "keeps its tables in constant memory",
        plain::without_constants,
    ),
    ("reads through textures", plain::without_textures),
    (
        "stages data in shared memory instead of a scratch array in global memory",
        shared::unstaged,
    ),
];

/// Steps that alone make no pair, because a compiler can do them by itself.
const SMALL: [&str; 2] = [STEPS[2].0, STEPS[3].0];

/// The slow version of a unit, with the names of its steps; `None` if no step applies, or if what
/// comes out does not compile. `Err` is the compiler's own failure.
pub(super) fn slowed(
    fast: &Side,
    compiler: &mut Option<&mut dyn Compile>,
) -> Result<Option<(Side, Vec<String>)>, String> {
    let unread = Outline::of(&fast.text).unread;
    let mut slow = fast.clone();
    let mut steps = Vec::new();
    for (name, step) in STEPS {
        let Some(text) = step(&slow.text) else {
            continue;
        };
        let side = Side::of(text);
        let is_other =
            normalise(Language::Cuda, &side.text) != normalise(Language::Cuda, &slow.text);
        let is_sound = side.signature == fast.signature && Outline::of(&side.text).unread <= unread;
        if !is_other || !is_sound {
            continue;
        }
        let side = side.compiled(compiler)?;
        // A step that breaks a unit that compiled is dropped.
        if side.compiled == Some(false) && slow.compiled == Some(true) {
            continue;
        }
        slow = side;
        steps.push(name.to_owned());
    }
    let has_substance = steps.iter().any(|step| !SMALL.contains(&step.as_str()));
    let is_sound = slow.compiled != Some(false);
    slow.notes = vec!["made of the fast side, step by step".to_owned()];
    Ok((has_substance && is_sound).then_some((slow, steps)))
}

/// The steps as the end of a sentence about the fast side.
pub(super) fn told(steps: &[String]) -> String {
    match steps {
        [] => String::new(),
        [only] => only.clone(),
        [before @ .., last] => format!("{} and {last}", before.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_that_applies_names_itself_and_keeps_the_signature() {
        let fast = "__constant__ float w[4];\n\
            __global__ void __launch_bounds__(64) k(const float *__restrict__ a, float *b) {\n\
            __shared__ float s[64];\ns[threadIdx.x] = __ldg(&a[threadIdx.x]);\n__syncthreads();\n\
            #pragma unroll\nfor (int i = 0; i < 4; i++) b[i] = __fmul_rn(s[i], w[i]);\n}\n";
        let (slow, steps) = slowed(&Side::of(fast.to_owned()), &mut None)
            .expect("there is no compiler to fail")
            .expect("there is much to take out");
        assert_eq!(steps.len(), 7, "{steps:?}\n{}", slow.text);
        for word in [
            "__constant__",
            "__launch_bounds__",
            "__restrict__",
            "__shared__",
            "__ldg",
            "unroll",
            "__fmul_rn",
        ] {
            assert!(!slow.text.contains(word), "{word}:\n{}", slow.text);
        }
        assert_eq!(slow.signature.len(), 1);
        assert_eq!(slow.signature[0].0, "k");
    }

    #[test]
    fn a_kernel_without_optimisations_stays_alone() {
        let plain = Side::of("__global__ void k(float *a) { a[threadIdx.x] = 1; }\n".to_owned());
        assert_eq!(slowed(&plain, &mut None), Ok(None));
        let small = Side::of("__global__ void k(float *__restrict__ a) { a[0] = 1; }\n".to_owned());
        assert_eq!(slowed(&small, &mut None), Ok(None));
    }

    #[test]
    fn steps_are_told_as_a_list() {
        let steps = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(told(&steps), "a, b and c");
        assert_eq!(told(&steps[..1]), "a");
    }
}
