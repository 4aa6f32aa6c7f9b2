//! A plan that is written by hand.

use crate::gpu::call::{Call, Passed};
use crate::gpu::plan::{Argument, Buffer, Launch, Origin, Place, Plan, Step};

/// A plan in the making.
pub(super) struct Draft<'a> {
    call: &'a Call,
    pub(super) plan: Plan,
}

/// What a launch is passed.
pub(super) enum Pass {
    /// The buffer of the call's argument, or one that was allocated.
    At(usize),
    /// Some bytes from there.
    Beyond(usize, i64),
    Int(i64),
    Long(i64),
    Number(f32),
}

impl<'a> Draft<'a> {
    pub(super) fn new(call: &'a Call) -> Self {
        let mut plan = Plan::default();
        for (at, passed) in call.arguments.iter().enumerate() {
            if let Passed::Buffer(bytes) = passed {
                let (origin, bytes) = (Origin::Argument(at), *bytes);
                plan.buffers.push(Buffer { origin, bytes });
            }
        }
        Self { call, plan }
    }

    pub(super) fn size(&self, name: &str) -> i64 {
        self.call.sizes[name]
    }

    /// The value of a scalar argument of the call.
    pub(super) fn scalar(&self, at: usize) -> f32 {
        match &self.call.arguments[at] {
            Passed::Scalar(bytes) => f32::from_ne_bytes(bytes[..].try_into().expect("four bytes")),
            Passed::Buffer(_) => 0.0,
        }
    }

    pub(super) fn allocate(&mut self, bytes: i64) -> usize {
        let (origin, bytes) = (Origin::Own, bytes as u64);
        self.plan.buffers.push(Buffer { origin, bytes });
        self.plan.buffers.len() - 1
    }

    /// The index of an argument's buffer among those of the plan.
    pub(super) fn buffer(&self, argument: usize) -> usize {
        let origin = Origin::Argument(argument);
        self.plan
            .buffers
            .iter()
            .position(|it| it.origin == origin)
            .expect("a buffer")
    }

    pub(super) fn clear(&mut self, buffer: usize, bytes: i64) {
        self.plan.steps.push(Step::Set {
            to: Place { buffer, offset: 0 },
            pattern: vec![0],
            bytes: bytes as u64,
        });
    }

    pub(super) fn launch(
        &mut self,
        kernel: &str,
        grid: [i64; 3],
        block: [i64; 3],
        passes: &[Pass],
    ) {
        let argument = |pass: &Pass| {
            let plain = |bytes: &[u8]| Argument {
                bytes: bytes.to_vec(),
                pointers: Vec::new(),
            };
            match pass {
                Pass::At(buffer) => Argument {
                    bytes: vec![0; 8],
                    pointers: vec![(
                        0,
                        Place {
                            buffer: *buffer,
                            offset: 0,
                        },
                    )],
                },
                Pass::Beyond(buffer, offset) => Argument {
                    bytes: vec![0; 8],
                    pointers: vec![(
                        0,
                        Place {
                            buffer: *buffer,
                            offset: *offset as u64,
                        },
                    )],
                },
                Pass::Int(value) => plain(&(*value as i32).to_ne_bytes()),
                Pass::Long(value) => plain(&value.to_ne_bytes()),
                Pass::Number(value) => plain(&value.to_ne_bytes()),
            }
        };
        self.plan.steps.push(Step::Launch(Launch {
            image: 0,
            kernel: kernel.to_owned(),
            grid: grid.map(|blocks| blocks as u32),
            block: block.map(|threads| threads as u32),
            shared: 0,
            cooperative: false,
            cluster: None,
            arguments: passes.iter().map(argument).collect(),
        }));
    }

    /// A kernel of `n` threads in blocks of 256.
    pub(super) fn row(&mut self, kernel: &str, n: i64, passes: &[Pass]) {
        self.launch(kernel, [(n + 255) / 256, 1, 1], [256, 1, 1], passes);
    }
}
