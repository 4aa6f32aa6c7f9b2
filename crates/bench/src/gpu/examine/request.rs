//! What the examiner's process is asked, and what it replies.

use hotloop_flow::machine::Device;
use serde::{Deserialize, Serialize};

use crate::gpu::examine::module::{ModuleAnswer, ModuleWork, TorchSite};
use crate::gpu::examine::work::{Answer, Work};

/// A request to the examiner's process.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Request {
    /// To open the GPU. The message carries the trusted kernels.
    Open(Opening),
    /// The message carries the code of the reference and of the candidate.
    Judge(Box<Work>),
    /// The message carries the code of the images, in their order.
    JudgeModule(Box<ModuleWork>),
}

/// How to open the GPU.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Opening {
    /// Whether runners close their system calls.
    pub(super) seccomp: bool,
    /// Runners that wait for another's death.
    pub(super) spares: u32,
    /// The torch that says what is right for modules.
    pub(super) torch: Option<TorchSite>,
}

/// The examiner's answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Reply {
    Opened(GpuFacts),
    Judged(Answer),
    JudgedModule(Box<ModuleAnswer>),
    /// The task's own code cannot be used.
    Task(String),
    /// The machine failed, and nothing is known about the candidate.
    Machine(String),
}

/// The GPU that judges.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct GpuFacts {
    pub(crate) device: Device,
    /// Processes of others that use the GPU now; `None` if nobody can say.
    pub(crate) others: Option<u32>,
    /// Versions of the libraries that baselines call.
    pub(crate) cublas: Option<String>,
}
