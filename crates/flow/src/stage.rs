//! The six stages of table I: each allows one technique more than the last.

use serde::{Deserialize, Serialize};

use crate::language::c::scan::{Scan, Technique};

/// A stage of the staged search; `1` to `6` in configuration and JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub enum Stage {
    /// Register blocking.
    RegisterBlocking,
    /// And cache blocking.
    CacheBlocking,
    /// And SIMD.
    Simd,
    /// And OpenMP.
    Openmp,
    /// And prefetching.
    Prefetch,
    /// Everything.
    All,
}

/// A number that names no stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("stage {0} does not exist; stages are 1 to 6")]
pub struct StageError(pub u8);

impl TryFrom<u8> for Stage {
    type Error = StageError;

    fn try_from(number: u8) -> Result<Self, StageError> {
        Self::ALL
            .into_iter()
            .find(|stage| stage.number() == number)
            .ok_or(StageError(number))
    }
}

impl From<Stage> for u8 {
    fn from(stage: Stage) -> Self {
        stage.number()
    }
}

impl std::fmt::Display for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "stage {}", self.number())
    }
}

impl Stage {
    /// All stages, in order.
    pub const ALL: [Self; 6] = [
        Self::RegisterBlocking,
        Self::CacheBlocking,
        Self::Simd,
        Self::Openmp,
        Self::Prefetch,
        Self::All,
    ];

    /// Its number, from 1.
    pub fn number(self) -> u8 {
        match self {
            Self::RegisterBlocking => 1,
            Self::CacheBlocking => 2,
            Self::Simd => 3,
            Self::Openmp => 4,
            Self::Prefetch => 5,
            Self::All => 6,
        }
    }

    /// What it allows, in words.
    pub fn allowed(self) -> &'static str {
        match self {
            Self::RegisterBlocking => "register blocking",
            Self::CacheBlocking => "register blocking and cache blocking",
            Self::Simd => "register blocking, cache blocking and SIMD (AVX-512)",
            Self::Openmp => "register blocking, cache blocking, SIMD (AVX-512) and OpenMP",
            Self::Prefetch => {
                "register blocking, cache blocking, SIMD (AVX-512), OpenMP and prefetch"
            }
            Self::All => "all techniques",
        }
    }

    /// What it forbids. Threads made by hand go with OpenMP.
    pub fn forbids(self) -> &'static [Technique] {
        match self {
            Self::RegisterBlocking | Self::CacheBlocking => &[
                Technique::Simd,
                Technique::Openmp,
                Technique::Threads,
                Technique::Prefetch,
            ],
            Self::Simd => &[Technique::Openmp, Technique::Threads, Technique::Prefetch],
            Self::Openmp => &[Technique::Prefetch],
            Self::Prefetch | Self::All => &[],
        }
    }

    /// The stage that a good candidate advances to; the last leads to itself.
    #[must_use]
    pub fn deeper(self) -> Self {
        match self {
            Self::RegisterBlocking => Self::CacheBlocking,
            Self::CacheBlocking => Self::Simd,
            Self::Simd => Self::Openmp,
            Self::Openmp => Self::Prefetch,
            Self::Prefetch | Self::All => Self::All,
        }
    }

    /// The first forbidden technique that `scan` found, in a sentence.
    pub fn violation(self, scan: &Scan) -> Option<String> {
        let found = self
            .forbids()
            .iter()
            .find_map(|technique| Some((technique, scan.techniques.get(technique)?)));
        found.map(|(technique, evidence)| {
            format!(
                "{self} forbids {}: line {} uses `{}`",
                technique.name(),
                evidence.line,
                evidence.text
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::c::scan::scan;

    #[test]
    fn numbers_and_stages_name_each_other() {
        for number in 1..=6 {
            assert_eq!(Stage::try_from(number).map(u8::from), Ok(number));
        }
        assert_eq!(Stage::try_from(0), Err(StageError(0)));
        assert_eq!(
            Stage::try_from(7).unwrap_err().to_string(),
            "stage 7 does not exist; stages are 1 to 6"
        );
    }

    #[test]
    fn a_stage_is_a_number_in_configuration() {
        #[derive(Deserialize)]
        struct Config {
            stage: Stage,
        }
        assert_eq!(
            toml::from_str::<Config>("stage = 3").map(|config| config.stage),
            Ok(Stage::Simd)
        );
        assert!(toml::from_str::<Config>("stage = 9").is_err());
    }

    #[test]
    fn stages_deepen_up_to_the_last() {
        let path: Vec<u8> = Stage::ALL
            .into_iter()
            .map(|stage| stage.deeper().number())
            .collect();
        assert_eq!(path, [2, 3, 4, 5, 6, 6]);
    }

    #[test]
    fn each_stage_forbids_less_than_the_one_before() {
        let used = "void f(double *a) { __m512d v; __builtin_prefetch(a);\n#pragma omp parallel\n{ pthread_create(0, 0, 0, 0); } }";
        let scan = scan(used);
        let violations: Vec<Option<String>> = Stage::ALL
            .into_iter()
            .map(|stage| stage.violation(&scan))
            .collect();
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
        let scan = scan("int f(void) { return pthread_create(0, 0, 0, 0); }");
        assert!(Stage::Simd.violation(&scan).is_some());
        assert!(Stage::Openmp.violation(&scan).is_none());
    }
}
