//! The plan of a module: what one call of `forward` does on the GPU, as data that can be shown.

use serde::Serialize;

use super::message::Shape;
use crate::gpu::image::Image;

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
    /// The device half of each extension, and what it was compiled to. They are no part of what is
    /// shown.
    #[serde(skip)]
    pub(crate) devices: Vec<Device>,
}

/// The device half of an extension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Device {
    pub(crate) source: String,
    /// The kernels and variables that the plan uses.
    pub(crate) names: Vec<String>,
    /// Nothing where nothing is used or there is no compiler.
    pub(crate) image: Option<Image>,
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

/// A byte of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct At {
    /// By its place among the plan's.
    pub memory: usize,
    pub offset: u64,
}

/// Bytes that may hold addresses: those are zero here, and known by what they point to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Data {
    pub bytes: Vec<u8>,
    /// Where an address lies in the bytes, and what it points to.
    pub pointers: Vec<(usize, At)>,
}

/// One thing that happens on the GPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "step", rename_all = "kebab-case")]
pub enum Step {
    Launch(Launch),
    /// Repeats a pattern of one, two or four bytes.
    Set {
        to: At,
        pattern: Vec<u8>,
        bytes: u64,
    },
    Copy {
        to: At,
        from: At,
        bytes: u64,
    },
    /// Bytes that host code computed.
    Write {
        to: At,
        data: Data,
    },
}

/// A kernel's launch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Launch {
    /// The extension that the kernel belongs to.
    pub extension: usize,
    /// The kernel as C++ names it, e.g. `scale<4, float>`.
    pub kernel: String,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared: u32,
    pub cooperative: bool,
    pub cluster: Option<[u32; 3]>,
    pub arguments: Vec<Data>,
}

impl Launch {
    /// The memory that its arguments point to, each once.
    pub fn touches(&self) -> Vec<usize> {
        let pointers = self.arguments.iter().flat_map(|one| &one.pointers);
        let mut touched: Vec<usize> = pointers.map(|(_, at)| at.memory).collect();
        touched.sort_unstable();
        touched.dedup();
        touched
    }
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
        let is_launch = |step: &&Step| matches!(step, Step::Launch(_));
        self.steps.iter().filter(is_launch).count()
    }
}
