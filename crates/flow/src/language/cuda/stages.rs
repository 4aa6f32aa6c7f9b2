//! The stages of a CUDA task that does not define its own.

use serde::Deserialize;

use crate::stage::{Stage, Stages};
use crate::technique::Technique;

const DEFAULT: &str = include_str!("stages.toml");

pub const COALESCING: Stage = Stage::numbered(1);
pub const SHARED_MEMORY: Stage = Stage::numbered(2);
pub const VECTOR_LOADS: Stage = Stage::numbered(3);
pub const WARP_PRIMITIVES: Stage = Stage::numbered(4);
pub const TENSOR_CORES: Stage = Stage::numbered(5);
pub const ALL: Stage = Stage::numbered(6);

/// The techniques that a stage may forbid.
pub const TECHNIQUES: [Technique; 6] = [
    Technique::SharedMemory,
    Technique::VectorLoads,
    Technique::WarpPrimitives,
    Technique::TensorCores,
    Technique::AsyncCopy,
    Technique::InlineAsm,
];

/// Reads the embedded stages.
pub fn default() -> Stages {
    #[derive(Deserialize)]
    struct File {
        stages: Stages,
    }
    let file: File = toml::from_str(DEFAULT).expect("a test reads the embedded stages");
    file.stages
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::Language;

    #[test]
    fn the_constants_name_the_embedded_stages() {
        let stages = default();
        assert_eq!(stages.check(), Ok(()));
        assert_eq!(Language::Cuda.check_stages(&stages), Ok(()));
        for (name, stage) in [
            ("coalescing", COALESCING),
            ("shared-memory", SHARED_MEMORY),
            ("vector-loads", VECTOR_LOADS),
            ("warp-primitives", WARP_PRIMITIVES),
            ("tensor-cores", TENSOR_CORES),
            ("all", ALL),
        ] {
            assert_eq!(stages.find(name), Ok(stage));
        }
        assert_eq!(stages.last(), ALL);
    }

    #[test]
    fn each_stage_forbids_less_than_the_one_before() {
        let stages = default();
        let counts: Vec<usize> = stages
            .iter()
            .map(|rules| rules.spec.forbids.len())
            .collect();
        assert_eq!(counts, [6, 5, 4, 3, 1, 0]);
    }

    #[test]
    fn a_language_forbids_only_its_own_techniques() {
        let stages = default();
        let error = Language::C.check_stages(&stages).unwrap_err();
        assert_eq!(
            error,
            "stages.1.forbids: candidates in c do not use `shared-memory`; their techniques are \
             simd, openmp, prefetch, optimize-pragma, inline-asm, threads"
        );
        let c = crate::language::c::stages::default();
        assert!(Language::Cuda.check_stages(&c).is_err());
    }
}
