//! The bench for CUDA: candidates run on a GPU of this machine.
//!
//! A candidate's host code never meets the GPU, and the process that holds the GPU never runs a
//! candidate's host code:
//!
//! ```text
//! source -> split -> device half -> screen, compile (confined) -> image
//!                 -> host half   -> compile, record (jail)     -> a plan for each call
//!           image + plans -> examiner, runner (GPU)            -> verdict
//! ```

pub(crate) mod bench;
pub(crate) mod call;
mod calls;
mod candidate;
pub(crate) mod compile;
pub(crate) mod driver;
pub(crate) mod examine;
pub(crate) mod host;
pub(crate) mod image;
mod library;
pub(crate) mod plan;
mod queues;
mod references;
mod replay;
pub(crate) mod resident;
pub(crate) mod site;
#[doc(hidden)]
pub mod trial;
pub(crate) mod trusted;

/// Whether this machine has a GPU that a driver serves.
pub(crate) fn is_here() -> bool {
    std::path::Path::new("/dev/nvidiactl").exists()
}
