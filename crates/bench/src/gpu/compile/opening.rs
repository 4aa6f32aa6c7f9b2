//! What a compiler of device halves is opened with.

use std::path::Path;
use std::sync::Arc;

use crate::cache::Cache;
use crate::gpu::compile::toolkit::Toolkit;
use crate::scratch::Scratch;

/// The compute capability that stands in for a GPU.
pub(super) const H200: (u32, u32) = (9, 0);

/// How device halves are compiled here.
pub(crate) struct Opening<'a> {
    pub(crate) toolkit: Toolkit,
    /// The executable that plays the hidden roles.
    pub(crate) roles: &'a Path,
    pub(crate) cache: Cache,
    pub(crate) scratch: Arc<Scratch>,
    pub(crate) landlock: bool,
    /// Whether what is compiled is kept and reused.
    pub(crate) reuse: bool,
    /// The GPU's compute capability; without a GPU that of an H200.
    pub(crate) capability: Option<(u32, u32)>,
}

/// The option that names a GPU's architecture.
pub(super) fn architecture(capability: Option<(u32, u32)>) -> String {
    let (major, minor) = capability.unwrap_or(H200);
    // Since Hopper, some instructions are of one architecture alone.
    let own = if major >= 9 { "a" } else { "" };
    format!("-arch=sm_{major}{minor}{own}")
}
