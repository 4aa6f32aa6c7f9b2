//! A plan: what a host half does on the GPU for one call, as data.
//!
//! The jail writes it, the bench checks it, and a runner replays it. It holds no address: a pointer
//! is a buffer and an offset.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// What a host half does for one call.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Plan {
    /// The memory that it names. The call's own buffers come first, in the order of its arguments.
    pub(crate) buffers: Vec<Buffer>,
    /// What it does, in order, on one stream.
    pub(crate) steps: Vec<Step>,
    /// Calls that the GPU would have refused, in words; they did nothing, so they are no steps.
    pub(crate) failures: Vec<String>,
}

/// Memory of the GPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Buffer {
    pub(crate) origin: Origin,
    pub(crate) bytes: u64,
}

/// Where a buffer comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Origin {
    /// The call's argument with this index among all arguments.
    Argument(usize),
    /// Allocated by the host half.
    Own,
    /// A `__device__` or `__constant__` variable.
    Variable {
        /// The image that has it, by its place among those of the plan.
        image: usize,
        /// The name expression that the compiler knows.
        name: String,
    },
}

/// A byte of a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Place {
    /// Index among the plan's buffers.
    pub(crate) buffer: usize,
    pub(crate) offset: u64,
}

/// One thing that a host half does on the GPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Step {
    Launch(Launch),
    /// Repeats `pattern` (one, two or four bytes) over `bytes` bytes.
    Set {
        to: Place,
        pattern: Vec<u8>,
        bytes: u64,
    },
    /// Copies within the GPU's memory.
    Copy {
        to: Place,
        from: Place,
        bytes: u64,
    },
    /// Writes bytes that the host half computed without data, such as filter weights or pointers.
    Write {
        to: Place,
        bytes: Vec<u8>,
        /// The pointers in it, as in an [`Argument`].
        pointers: Vec<(usize, Place)>,
    },
}

impl Step {
    /// Bytes of memory that it takes, about.
    pub(crate) fn weight(&self) -> usize {
        let held = |bytes: &[u8], pointers: &[(usize, Place)]| {
            size_of::<Argument>() + bytes.len() + std::mem::size_of_val(pointers)
        };
        size_of::<Self>()
            + match self {
                Self::Launch(launch) => {
                    let arguments = launch.arguments.iter();
                    let arguments = arguments.map(|one| held(&one.bytes, &one.pointers));
                    launch.kernel.len() + arguments.sum::<usize>()
                }
                Self::Write {
                    bytes, pointers, ..
                } => held(bytes, pointers),
                Self::Set { .. } | Self::Copy { .. } => 0,
            }
    }
}

impl Plan {
    /// Bytes of memory that its steps take, about.
    pub(crate) fn weight(&self) -> usize {
        self.steps.iter().map(Step::weight).sum()
    }

    pub(crate) fn launches(&self) -> impl Iterator<Item = &Launch> {
        self.steps.iter().filter_map(|step| match step {
            Step::Launch(launch) => Some(launch),
            Step::Set { .. } | Step::Copy { .. } | Step::Write { .. } => None,
        })
    }
}

/// A kernel's launch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Launch {
    /// The image that has the kernel, by its place among those of the plan.
    pub(crate) image: usize,
    /// The kernel as the host half names it, e.g. `scale<4, float>`: a name expression.
    pub(crate) kernel: String,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub(crate) shared: u32,
    pub(crate) cooperative: bool,
    /// Blocks of a cluster, if it has clusters.
    pub(crate) cluster: Option<[u32; 3]>,
    pub(crate) arguments: Vec<Argument>,
}

/// An argument of a launch, passed by value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Argument {
    pub(crate) bytes: Vec<u8>,
    /// The pointers in it: where in `bytes`, and what they point to. The bytes there are zero.
    pub(crate) pointers: Vec<(usize, Place)>,
}

/// The kernels and variables that plans name.
pub(crate) fn names(plans: &[Plan]) -> Vec<String> {
    let kernels = plans.iter().flat_map(Plan::launches);
    let kernels = kernels.map(|launch| launch.kernel.clone());
    let variables = plans.iter().flat_map(|plan| &plan.buffers);
    let variables = variables.filter_map(|buffer| match &buffer.origin {
        Origin::Variable { name, .. } => Some(name.clone()),
        Origin::Argument(_) | Origin::Own => None,
    });
    let names: BTreeSet<String> = kernels.chain(variables).collect();
    names.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::image::Image;

    #[test]
    fn a_plan_and_an_image_arrive_as_they_were_sent() {
        let place = |buffer| Place { buffer, offset: 4 };
        let origins = [
            Origin::Argument(0),
            Origin::Own,
            Origin::Variable {
                image: 1,
                name: "table".to_owned(),
            },
        ];
        let launch = Launch {
            image: 1,
            kernel: "scale<4>".to_owned(),
            grid: [2, 1, 1],
            block: [256, 1, 1],
            shared: 1024,
            cooperative: false,
            cluster: Some([2, 1, 1]),
            arguments: vec![Argument {
                bytes: vec![0; 8],
                pointers: vec![(0, place(0))],
            }],
        };
        let plan = Plan {
            buffers: origins.map(|origin| Buffer { origin, bytes: 64 }).into(),
            steps: vec![
                Step::Launch(launch),
                Step::Set {
                    to: place(1),
                    pattern: vec![0],
                    bytes: 8,
                },
                Step::Copy {
                    to: place(1),
                    from: place(0),
                    bytes: 8,
                },
                Step::Write {
                    to: place(2),
                    bytes: vec![0; 9],
                    pointers: vec![(1, place(1))],
                },
            ],
            failures: vec!["a block of 2,048 threads".to_owned()],
        };
        let text = serde_json::to_string(&plan).unwrap();
        assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
        let image = Image {
            cubin: vec![0x7f],
            symbols: [("scale<4>".to_owned(), "_Z5scale".to_owned())].into(),
            ..Image::default()
        };
        let text = serde_json::to_string(&image).unwrap();
        assert_eq!(serde_json::from_str::<Image>(&text).unwrap(), image);
    }
}
