//! An item of a CUDA file: a kernel, a helper, a type, a macro or another.

/// What an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A `__global__` function with a body.
    Kernel,
    /// A `__device__` function with a body.
    Helper,
    /// Another function with a body.
    Host,
    /// A function without a body that the device may call.
    DevicePrototype,
    /// Any other function without a body.
    Prototype,
    /// `__constant__`, `__shared__` or `__device__` data.
    DeviceData,
    /// A texture or surface reference.
    Texture,
    /// Constant data without a qualifier of CUDA.
    Constant,
    /// Other data.
    Data,
    /// A struct, union, enum, typedef or alias.
    Type,
    /// `#define`, or `#undef` of a name.
    Macro,
    /// `#include`, of this path.
    Include { local: bool },
}

impl Kind {
    /// Whether the cleaning of the paper keeps it.
    pub(super) fn is_device(self) -> bool {
        matches!(
            self,
            Self::Kernel | Self::Helper | Self::DeviceData | Self::Texture
        )
    }
}

/// Lines around an item: a condition, or a namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wrap {
    pub(super) open: String,
    pub(super) close: &'static str,
}

/// One item of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) kind: Kind,
    pub(super) text: String,
    /// What it defines; the path of an include.
    pub(super) names: Vec<String>,
    /// What stands around it, outermost first.
    pub(super) wraps: Vec<Wrap>,
    /// The device functions among its methods.
    pub(super) methods: usize,
    /// The parameter lists of kernels, without white space, and types of operators' parameters.
    pub(super) parameters: String,
}
