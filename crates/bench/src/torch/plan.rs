//! The plan of a module: what one call of `forward` does on the GPU, as data that can be shown.

use serde::Serialize;

use super::message::Shape;

/// What one call of `forward` does.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModulePlan {
    /// The memory that it names: inputs, parameters, then what it allocates.
    pub buffers: Vec<Memory>,
    /// What it does, in order, on one stream.
    pub steps: Vec<Step>,
    pub outputs: Vec<Output>,
    /// Calls that the GPU would have refused, in words.
    pub failures: Vec<String>,
    /// Whether the device half was compiled.
    pub compiled: Compiled,
    /// Why the shapes of the outputs could not be compared with the problem's.
    pub uncompared: Option<String>,
}

/// Memory of the GPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Memory {
    /// How steps name it, e.g. `input 0`, `fc.weight`, `own 2`.
    pub name: String,
    pub origin: Origin,
    pub bytes: u64,
}

/// Where memory comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// An input, by its place among the arguments of `forward`.
    Input(usize),
    /// A parameter or a buffer of `Model`, by its name there.
    Parameter(String),
    /// Allocated by the answer.
    Own,
    /// A `__device__` or `__constant__` variable of an extension.
    Variable { extension: usize, name: String },
}

/// One thing that happens on the GPU. Memory is named by its place among the plan's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "step", rename_all = "kebab-case")]
pub enum Step {
    Launch {
        /// Which extension the kernel belongs to.
        extension: usize,
        kernel: String,
        grid: [u32; 3],
        block: [u32; 3],
        /// Bytes of dynamic shared memory.
        shared: u32,
        /// The memory that its arguments point to.
        touches: Vec<usize>,
    },
    Set {
        to: usize,
        bytes: u64,
    },
    Copy {
        to: usize,
        from: usize,
        bytes: u64,
    },
    /// Bytes that host code computed.
    Write {
        to: usize,
        bytes: u64,
    },
}

/// A tensor that `forward` returns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Output {
    /// Its memory, by its place among the plan's.
    pub memory: usize,
    /// Bytes from the memory's begin.
    pub offset: u64,
    pub shape: Shape,
    /// In elements.
    pub strides: Vec<u64>,
}

/// What is known of the device half.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Compiled {
    /// By this compiler.
    By(String),
    /// It was not compiled, for this reason.
    Not(String),
}

impl ModulePlan {
    /// The number of kernels that are launched.
    pub fn launches(&self) -> usize {
        let is_launch = |step: &&Step| matches!(step, Step::Launch { .. });
        self.steps.iter().filter(is_launch).count()
    }
}
