//! The machine that judged: facts that make two timings comparable, or not.

use serde::{Deserialize, Serialize};

/// Facts about a machine. Timings are compared only within one `class`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct MachineFacts {
    /// Hash of everything below that changes what a timing means.
    pub class: String,
    /// The CPU's name.
    pub cpu: String,
    /// Widest vector level: `sse2`, `avx2`, `avx512`.
    pub simd: String,
    /// Logical cores that this process may use.
    pub cores: u32,
    /// The kernel's release.
    pub kernel: String,
    /// The compiler and its version.
    pub compiler: String,
    /// OpenBLAS and its core name, if it was found.
    pub openblas: Option<String>,
    /// The layers of the sandbox that hold here.
    pub sandbox: Vec<String>,
}
