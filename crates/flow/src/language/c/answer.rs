//! What a prompt says about the machine, and how a correct answer begins.

use super::prototype::prototype;
use crate::interface::Function;
use crate::stage::Rules;
use crate::technique::Technique;

fn allows(stage: Option<Rules<'_>>, technique: Technique) -> bool {
    stage.is_none_or(|stage| !stage.forbids(technique))
}

/// Names the vector extensions if the stage allows them. Intrinsics that the machine lacks crash,
/// and models guess AVX-512.
pub fn machine_hint(simd: &str, stage: Option<Rules<'_>>) -> Option<&'static str> {
    if !allows(stage, Technique::Simd) {
        return None;
    }
    match simd {
        "avx512" => Some("The machine has AVX-512: `__m512d` holds 8 doubles."),
        "avx2" => Some("The machine has AVX2 and FMA but no AVX-512: `__m256d` holds 4 doubles."),
        "sse2" => Some("The machine has SSE2 only: `__m128d` holds 2 doubles."),
        _ => None,
    }
}

/// Headers, the prototype and its opening brace. Including a header does not use a technique, but a
/// stage that forbids one should not suggest it either.
pub fn beginning(function: &Function, stage: Option<Rules<'_>>) -> String {
    let mut text = String::new();
    if allows(stage, Technique::Simd) {
        text.push_str("#include <immintrin.h>\n");
    }
    if allows(stage, Technique::Openmp) {
        text.push_str("#include <omp.h>\n");
    }
    text.push_str(&prototype(function, &function.entry));
    text.push_str(" {\n");
    text
}
