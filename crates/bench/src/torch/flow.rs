//! What can have flowed where: from inputs through kernels and copies to what `forward` returns.

use std::collections::BTreeMap;

use super::plan::{Memory, Origin, Step};

/// What is known of one memory, or of several that hold each other's addresses.
#[derive(Debug, Clone, Copy, Default)]
struct Known {
    /// A kernel can have written it.
    written: bool,
    /// Its numbers can depend on an input.
    from_input: bool,
}

/// What memory can hold after all steps.
pub(super) struct Flow<'a> {
    buffers: &'a [Memory],
    /// The memory that stands for each memory's group.
    groups: Vec<usize>,
    known: Vec<Known>,
    /// A variable of each extension: a launch reaches all of them, and names none.
    variables: BTreeMap<usize, usize>,
}

impl<'a> Flow<'a> {
    pub(super) fn of(buffers: &'a [Memory], steps: &[Step]) -> Self {
        let from_input = |memory: &Memory| Known {
            written: false,
            from_input: matches!(memory.origin, Origin::Input(_)),
        };
        let mut flow = Self {
            buffers,
            groups: (0..buffers.len()).collect(),
            known: buffers.iter().map(from_input).collect(),
            variables: BTreeMap::new(),
        };
        for (at, memory) in buffers.iter().enumerate() {
            if let Origin::Variable { extension, .. } = memory.origin {
                let first = *flow.variables.entry(extension).or_insert(at);
                flow.join(first, at);
            }
        }
        for step in steps {
            flow.step(step);
        }
        flow
    }

    /// Whether a kernel can have written memory, or what was copied to it. A value that is only
    /// set, or an input that is only copied, is no work of a kernel.
    pub(super) fn is_written(&mut self, memory: usize) -> bool {
        self.is_own(memory) && self.at(memory).written
    }

    /// Whether the numbers in memory can depend on an input.
    pub(super) fn depends_on_inputs(&mut self, memory: usize) -> bool {
        self.at(memory).from_input
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Launch(launch) => {
                let mut groups: Vec<usize> = launch.touches();
                groups.extend(self.variables.get(&launch.extension));
                let from_input = groups.iter().any(|memory| self.at(*memory).from_input);
                for memory in groups {
                    let known = self.at(memory);
                    known.written = true;
                    known.from_input |= from_input;
                }
            }
            Step::Copy { to, from, .. } => {
                let from = Known {
                    written: self.is_written(from.memory),
                    from_input: self.at(from.memory).from_input,
                };
                let to = self.at(to.memory);
                to.written |= from.written;
                to.from_input |= from.from_input;
            }
            // A kernel that is given a table of addresses reaches what they name.
            Step::Write { to, data } => {
                for (_, at) in &data.pointers {
                    self.join(to.memory, at.memory);
                }
            }
            Step::Set { .. } => {}
        }
    }

    fn is_own(&self, memory: usize) -> bool {
        let origin = &self.buffers[memory].origin;
        matches!(origin, Origin::Own | Origin::Variable { .. })
    }

    fn at(&mut self, memory: usize) -> &mut Known {
        let group = self.group(memory);
        &mut self.known[group]
    }

    fn group(&mut self, memory: usize) -> usize {
        let mut at = memory;
        while self.groups[at] != at {
            self.groups[at] = self.groups[self.groups[at]];
            at = self.groups[at];
        }
        at
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.group(a), self.group(b));
        let of_b = self.known[b];
        self.groups[b] = a;
        self.known[a].written |= of_b.written;
        self.known[a].from_input |= of_b.from_input;
    }
}

#[cfg(test)]
mod tests {
    use super::super::plan::{At, Data, Launch};
    use super::*;

    fn memory(origin: Origin) -> Memory {
        Memory {
            name: String::new(),
            origin,
            bytes: 64,
        }
    }

    fn data(memories: &[usize]) -> Data {
        let pointers = memories.iter().map(|memory| (0, at(*memory)));
        Data {
            bytes: vec![0; 8],
            pointers: pointers.collect(),
        }
    }

    fn at(memory: usize) -> At {
        At { memory, offset: 0 }
    }

    fn launch(memories: &[usize]) -> Step {
        Step::Launch(Launch {
            extension: 0,
            kernel: "k".to_owned(),
            grid: [1; 3],
            block: [1; 3],
            shared: 0,
            cooperative: false,
            cluster: None,
            arguments: vec![data(memories)],
        })
    }

    fn copy(to: usize, from: usize) -> Step {
        Step::Copy {
            to: at(to),
            from: at(from),
            bytes: 64,
        }
    }

    /// Of each memory, whether it is written and whether it depends on an input.
    fn known(buffers: &[Memory], steps: &[Step]) -> Vec<(bool, bool)> {
        let mut flow = Flow::of(buffers, steps);
        let all = 0..buffers.len();
        all.map(|at| (flow.is_written(at), flow.depends_on_inputs(at)))
            .collect()
    }

    #[test]
    fn what_kernels_are_given_flows_to_what_they_write() {
        let own = || memory(Origin::Own);
        let buffers = [memory(Origin::Input(0)), own(), own(), own()];
        let of = |steps: &[Step]| known(&buffers, steps);
        let input = (false, true);
        assert_eq!(
            of(&[launch(&[0, 1])])[..3],
            [input, (true, true), (false, false)]
        );
        let chain = [launch(&[0, 1]), launch(&[1, 2]), copy(3, 2)];
        assert_eq!(of(&chain)[2..], [(true, true), (true, true)]);
        let late = [launch(&[1, 2]), launch(&[0, 1])];
        assert_eq!(of(&late)[1..3], [(true, true), (true, false)], "too late");
        let copied = [launch(&[0, 1]), copy(2, 0)];
        assert_eq!(of(&copied)[2], (false, true), "a copied input is no work");
        let first = [copy(1, 0), launch(&[1, 2])];
        assert_eq!(of(&first)[2], (true, true));
    }

    #[test]
    fn tables_of_addresses_and_variables_are_followed() {
        let variable = Origin::Variable {
            extension: 0,
            name: "w".to_owned(),
        };
        let own = || memory(Origin::Own);
        let buffers = [memory(Origin::Input(0)), own(), own(), memory(variable)];
        let table = Step::Write {
            to: at(1),
            data: data(&[0, 2]),
        };
        assert_eq!(known(&buffers, &[table, launch(&[1])])[2], (true, true));
        let constant = [copy(3, 0), launch(&[2])];
        assert_eq!(known(&buffers, &constant)[2], (true, true));
        assert_eq!(known(&buffers, &[launch(&[2])])[2], (true, false));
    }
}
