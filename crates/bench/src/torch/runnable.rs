//! A module's plan as the GPU bench replays it.

use super::plan::{At, Data, ModulePlan, Origin, Step};
use crate::gpu::examine::{Given, Returned};
use crate::gpu::plan as recorded;

/// A plan, and what its numbers mean.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Runnable {
    pub(super) plan: recorded::Plan,
    /// What each of its arguments is.
    pub(super) given: Vec<Given>,
    pub(super) outputs: Vec<Returned>,
    /// The extension that each of its images belongs to. Extensions that it does not use have none.
    pub(super) extensions: Vec<usize>,
}

/// Converts a plan. Images are numbered in the order in which the plan names their extensions.
pub(super) fn runnable(of: &ModulePlan) -> Runnable {
    let mut extensions: Vec<usize> = Vec::new();
    let mut image = |extension: usize| {
        let known = extensions.iter().position(|one| *one == extension);
        known.unwrap_or_else(|| {
            extensions.push(extension);
            extensions.len() - 1
        })
    };
    let mut given = Vec::new();
    let mut argument = |what: Given| {
        given.push(what);
        recorded::Origin::Argument(given.len() - 1)
    };
    let buffers = of.buffers.iter().map(|memory| recorded::Buffer {
        origin: match &memory.origin {
            Origin::Input(index) => argument(Given::Input(*index)),
            Origin::Parameter(name) => argument(Given::Parameter(name.clone())),
            Origin::Own => recorded::Origin::Own,
            Origin::Variable { extension, name } => recorded::Origin::Variable {
                image: image(*extension),
                name: name.clone(),
            },
        },
        bytes: memory.bytes,
    });
    let buffers = buffers.collect();
    let steps = of.steps.iter().map(|step| converted(step, &mut image));
    let steps = steps.collect();
    let outputs = of.outputs.iter().map(|output| Returned {
        buffer: output.memory,
        offset: output.offset,
        dtype: output.shape.0.clone(),
        shape: output.shape.1.clone(),
        strides: output.strides.clone(),
    });
    Runnable {
        plan: recorded::Plan {
            buffers,
            steps,
            failures: of.failures.clone(),
        },
        given,
        outputs: outputs.collect(),
        extensions,
    }
}

fn converted(step: &Step, image: &mut impl FnMut(usize) -> usize) -> recorded::Step {
    match step {
        Step::Launch(launch) => recorded::Step::Launch(recorded::Launch {
            image: image(launch.extension),
            kernel: launch.kernel.clone(),
            grid: launch.grid,
            block: launch.block,
            shared: launch.shared,
            cooperative: launch.cooperative,
            cluster: launch.cluster,
            arguments: launch.arguments.iter().map(argument).collect(),
        }),
        Step::Set { to, pattern, bytes } => recorded::Step::Set {
            to: place(*to),
            pattern: pattern.clone(),
            bytes: *bytes,
        },
        Step::Copy { to, from, bytes } => recorded::Step::Copy {
            to: place(*to),
            from: place(*from),
            bytes: *bytes,
        },
        Step::Write { to, data } => recorded::Step::Write {
            to: place(*to),
            bytes: data.bytes.clone(),
            pointers: pointers(data),
        },
    }
}

fn place(at: At) -> recorded::Place {
    recorded::Place {
        buffer: at.memory,
        offset: at.offset,
    }
}

fn pointers(data: &Data) -> Vec<(usize, recorded::Place)> {
    let pointers = data.pointers.iter();
    pointers.map(|(of, at)| (*of, place(*at))).collect()
}

fn argument(data: &Data) -> recorded::Argument {
    recorded::Argument {
        bytes: data.bytes.clone(),
        pointers: pointers(data),
    }
}

#[cfg(test)]
mod tests {
    use super::super::plan::{Compiled, Launch, Memory, Output};
    use super::*;

    fn memory(origin: Origin, bytes: u64) -> Memory {
        let name = String::new();
        Memory {
            name,
            origin,
            bytes,
        }
    }

    fn launch(extension: usize, to: usize) -> Step {
        Step::Launch(Launch {
            extension,
            kernel: "k<4>".to_owned(),
            grid: [7, 1, 1],
            block: [256, 1, 1],
            shared: 16,
            cooperative: false,
            cluster: Some([2, 1, 1]),
            arguments: vec![Data {
                bytes: vec![0; 16],
                pointers: vec![(
                    8,
                    At {
                        memory: to,
                        offset: 64,
                    },
                )],
            }],
        })
    }

    fn plan() -> ModulePlan {
        let at = |memory, offset| At { memory, offset };
        let variable = Origin::Variable {
            extension: 3,
            name: "table".to_owned(),
        };
        ModulePlan {
            buffers: vec![
                memory(Origin::Input(1), 32),
                memory(Origin::Own, 256),
                memory(Origin::Parameter("fc.bias".to_owned()), 8),
                memory(variable, 64),
            ],
            steps: vec![
                Step::Write {
                    to: at(3, 4),
                    data: Data {
                        bytes: vec![1, 2],
                        pointers: Vec::new(),
                    },
                },
                launch(1, 1),
                Step::Copy {
                    to: at(1, 8),
                    from: at(0, 0),
                    bytes: 16,
                },
                launch(3, 2),
                Step::Set {
                    to: at(1, 0),
                    pattern: vec![0],
                    bytes: 4,
                },
            ],
            outputs: vec![Output {
                memory: 1,
                offset: 128,
                shape: ("float32".to_owned(), vec![4, 2]),
                strides: vec![1, 4],
            }],
            failures: vec!["a block of 2,048 threads".to_owned()],
            compiled: Compiled::Not(String::new()),
            uncompared: None,
            devices: Vec::new(),
        }
    }

    #[test]
    fn what_is_given_becomes_arguments_and_extensions_become_images() {
        let made = runnable(&plan());
        let parameter = Given::Parameter("fc.bias".to_owned());
        assert_eq!(made.given, [Given::Input(1), parameter]);
        assert_eq!(made.extensions, [3, 1], "the others are not used");
        let origins: Vec<_> = made.plan.buffers.iter().map(|it| &it.origin).collect();
        let variable = recorded::Origin::Variable {
            image: 0,
            name: "table".to_owned(),
        };
        assert_eq!(
            origins,
            [
                &recorded::Origin::Argument(0),
                &recorded::Origin::Own,
                &recorded::Origin::Argument(1),
                &variable,
            ]
        );
        let images: Vec<_> = made.plan.launches().map(|launch| launch.image).collect();
        assert_eq!(images, [1, 0]);
        assert_eq!(made.plan.failures.len(), 1);
    }

    #[test]
    fn steps_and_outputs_keep_their_places() {
        let made = runnable(&plan());
        let place = |buffer, offset| recorded::Place { buffer, offset };
        let launch = made.plan.launches().next().unwrap();
        assert_eq!(launch.arguments[0].pointers, [(8, place(1, 64))]);
        assert_eq!((launch.grid, launch.shared), ([7, 1, 1], 16));
        let [write, _, copy, _, set] = made.plan.steps.as_slice() else {
            panic!("{:?}", made.plan.steps);
        };
        let bytes = vec![1, 2];
        let wanted = recorded::Step::Write {
            to: place(3, 4),
            bytes,
            pointers: Vec::new(),
        };
        assert_eq!(write, &wanted);
        let wanted = recorded::Step::Copy {
            to: place(1, 8),
            from: place(0, 0),
            bytes: 16,
        };
        assert_eq!(copy, &wanted);
        assert!(matches!(set, recorded::Step::Set { bytes: 4, .. }));
        let output = &made.outputs[0];
        assert_eq!((output.buffer, output.offset), (1, 128));
        assert_eq!(
            (&output.shape[..], &output.strides[..]),
            (&[4, 2][..], &[1, 4][..])
        );
    }
}
