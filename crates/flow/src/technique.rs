//! The techniques that a stage may forbid, and where a source uses them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A way of making code fast that a stage or an experiment may forbid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Technique {
    /// Explicit vector code.
    Simd,
    /// OpenMP, except for `omp simd`.
    Openmp,
    /// Explicit prefetching.
    Prefetch,
    /// A pragma or attribute that changes the optimisation level or the target.
    OptimizePragma,
    /// Inline assembly of any kind.
    InlineAsm,
    /// Threads made by hand.
    Threads,
    /// Shared memory of a GPU's block.
    SharedMemory,
    /// Loads and stores of several elements of a GPU's global memory at once.
    VectorLoads,
    /// Instructions by which the threads of a warp exchange data.
    WarpPrimitives,
    /// Matrix instructions of a GPU.
    TensorCores,
    /// Copies of a GPU that run beside the computation.
    AsyncCopy,
}

impl Technique {
    /// The name in `task.toml`.
    pub fn key(self) -> &'static str {
        match self {
            Self::Simd => "simd",
            Self::Openmp => "openmp",
            Self::Prefetch => "prefetch",
            Self::OptimizePragma => "optimize-pragma",
            Self::InlineAsm => "inline-asm",
            Self::Threads => "threads",
            Self::SharedMemory => "shared-memory",
            Self::VectorLoads => "vector-loads",
            Self::WarpPrimitives => "warp-primitives",
            Self::TensorCores => "tensor-cores",
            Self::AsyncCopy => "async-copy",
        }
    }

    /// The usual name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Simd => "SIMD",
            Self::Openmp => "OpenMP",
            Self::Prefetch => "prefetch",
            Self::OptimizePragma => "optimisation pragmas",
            Self::InlineAsm => "inline assembly",
            Self::Threads => "threads",
            Self::SharedMemory => "shared memory",
            Self::VectorLoads => "vector loads",
            Self::WarpPrimitives => "warp primitives",
            Self::TensorCores => "tensor cores",
            Self::AsyncCopy => "asynchronous copies",
        }
    }
}

/// Where a technique was seen first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The line, from 1.
    pub line: u32,
    /// The words that revealed it.
    pub text: String,
}

/// The techniques of one source.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scan {
    /// The techniques, each with its first place.
    pub techniques: BTreeMap<Technique, Evidence>,
}

impl Scan {
    /// Records that `line` uses `technique`. The first line counts.
    pub(crate) fn note(&mut self, technique: Technique, line: u32, text: impl Into<String>) {
        let evidence = Evidence {
            line,
            text: text.into(),
        };
        let first = self
            .techniques
            .entry(technique)
            .or_insert_with(|| evidence.clone());
        if evidence.line < first.line {
            *first = evidence;
        }
    }

    pub fn uses(&self, technique: Technique) -> bool {
        self.techniques.contains_key(&technique)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_technique_is_read_by_its_key() {
        use Technique::{
            AsyncCopy, InlineAsm, Openmp, OptimizePragma, Prefetch, SharedMemory, Simd,
            TensorCores, Threads, VectorLoads, WarpPrimitives,
        };
        for technique in [
            AsyncCopy,
            InlineAsm,
            Openmp,
            OptimizePragma,
            Prefetch,
            SharedMemory,
            Simd,
            TensorCores,
            Threads,
            VectorLoads,
            WarpPrimitives,
        ] {
            let written = serde_json::to_value(technique).unwrap();
            assert_eq!(written, technique.key());
        }
    }
}
