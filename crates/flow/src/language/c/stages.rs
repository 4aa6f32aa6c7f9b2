//! The stages of a C task that does not define its own.

use serde::Deserialize;

use crate::stage::{Stage, Stages};
use crate::technique::Technique;

const DEFAULT: &str = include_str!("stages.toml");

pub const REGISTER_BLOCKING: Stage = Stage::numbered(1);
pub const CACHE_BLOCKING: Stage = Stage::numbered(2);
pub const SIMD: Stage = Stage::numbered(3);
pub const OPENMP: Stage = Stage::numbered(4);
pub const PREFETCH: Stage = Stage::numbered(5);
pub const ALL: Stage = Stage::numbered(6);

/// All six, in order.
pub const SIX: [Stage; 6] = [
    REGISTER_BLOCKING,
    CACHE_BLOCKING,
    SIMD,
    OPENMP,
    PREFETCH,
    ALL,
];

/// The techniques that a stage may forbid.
pub const TECHNIQUES: [Technique; 6] = [
    Technique::Simd,
    Technique::Openmp,
    Technique::Prefetch,
    Technique::OptimizePragma,
    Technique::InlineAsm,
    Technique::Threads,
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
    use crate::language::c::scan;

    fn violation(stage: Stage, source: &str) -> Option<String> {
        let stages = default();
        stages.get(stage).unwrap().violation(&scan(source))
    }

    #[test]
    fn the_constants_name_the_embedded_stages() {
        let stages = default();
        assert_eq!(stages.check(), Ok(()));
        let names = [
            "register-blocking",
            "cache-blocking",
            "simd",
            "openmp",
            "prefetch",
            "all",
        ];
        assert!(
            names
                .into_iter()
                .map(|name| stages.find(name))
                .eq(SIX.map(Ok))
        );
        assert_eq!(stages.last(), ALL);
    }

    #[test]
    fn each_stage_forbids_less_than_the_one_before() {
        let used = "void f(double *a) { __m512d v; __builtin_prefetch(a);\n#pragma omp parallel\n{ pthread_create(0, 0, 0, 0); } }";
        let violations = SIX.map(|stage| violation(stage, used));
        assert_eq!(
            violations[0].as_deref(),
            Some("stage 1 forbids SIMD: line 1 uses `__m512d`")
        );
        assert_eq!(
            violations[1].as_deref(),
            Some("stage 2 forbids SIMD: line 1 uses `__m512d`")
        );
        assert_eq!(
            violations[2].as_deref(),
            Some("stage 3 forbids OpenMP: line 2 uses `#pragma omp parallel`")
        );
        assert_eq!(
            violations[3].as_deref(),
            Some("stage 4 forbids prefetch: line 1 uses `__builtin_prefetch`")
        );
        assert_eq!(violations[4..], [None, None]);
    }

    #[test]
    fn threads_by_hand_go_with_openmp() {
        let source = "int f(void) { return pthread_create(0, 0, 0, 0); }";
        assert!(violation(SIMD, source).is_some());
        assert!(violation(OPENMP, source).is_none());
    }
}
