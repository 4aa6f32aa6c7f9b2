//! A compiled device half.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A compiled device half.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Image {
    /// Machine code for one architecture.
    pub(crate) cubin: Vec<u8>,
    /// The symbol of each name expression that was asked for: kernels and variables.
    pub(crate) symbols: BTreeMap<String, String>,
    /// What each kernel takes, by symbol; of functions that are called, too.
    #[serde(default)]
    pub(crate) taken: BTreeMap<String, Taken>,
    /// Whether it allocates on the GPU.
    #[serde(default)]
    pub(crate) uses_heap: bool,
    /// Bytes of its variables on the GPU.
    #[serde(default)]
    pub(crate) variable_bytes: u64,
}

/// What a kernel takes of a multiprocessor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Taken {
    /// Registers of a thread.
    pub(crate) registers: u32,
    /// Bytes of a thread's own stack: local arrays and spilled registers.
    pub(crate) stack_bytes: u32,
    /// Bytes of shared memory of a block whose size is known without its launch.
    pub(crate) shared_bytes: u64,
}
