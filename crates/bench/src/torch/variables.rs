//! Variables of extensions in a plan. They outlive a run, so no run may find in them what another
//! one left: each run writes them before its kernels look, or never.

use std::collections::{BTreeMap, BTreeSet};

use super::plan::{At, Launch, Memory, Origin, Step};

/// What a plan's steps did to variables so far.
#[derive(Default)]
pub(super) struct Variables {
    /// Bytes from each variable's begin that were written before any kernel could read it.
    fresh: BTreeMap<usize, u64>,
    /// Extensions whose kernels have run.
    launched: BTreeSet<usize>,
    /// Variables that were copied from.
    read: BTreeSet<usize>,
}

impl Variables {
    /// Notes a step, unless it lets a run find what another one left.
    pub(super) fn meet(&mut self, step: &Step, buffers: &[Memory]) -> Result<(), String> {
        match step {
            Step::Launch(launch) => self.launch(launch, buffers),
            Step::Set { to, bytes, .. } => self.write(to, *bytes, buffers),
            Step::Write { to, data } => self.write(to, data.bytes.len() as u64, buffers),
            Step::Copy { to, from, bytes } => {
                self.read.insert(from.memory);
                self.write(to, *bytes, buffers)
            }
        }
    }

    fn launch(&mut self, launch: &Launch, buffers: &[Memory]) -> Result<(), String> {
        self.launched.insert(launch.extension);
        let pointers = launch.arguments.iter().flat_map(|one| &one.pointers);
        let mut given = pointers.map(|(_, at)| &buffers[at.memory]);
        let is_variable = |memory: &&Memory| matches!(memory.origin, Origin::Variable { .. });
        match given.find(is_variable) {
            None => Ok(()),
            Some(memory) => Err(format!(
                "`{}` is given the address of the {}, which keeps what is written to it from one \
                 run to the next; allocate memory for it",
                launch.kernel, memory.name
            )),
        }
    }

    fn write(&mut self, to: &At, bytes: u64, buffers: &[Memory]) -> Result<(), String> {
        let memory = &buffers[to.memory];
        let Origin::Variable { extension, .. } = memory.origin else {
            return Ok(());
        };
        let fresh = self.fresh.entry(to.memory).or_default();
        let end = to.offset.saturating_add(bytes);
        if end <= *fresh {
            return Ok(());
        }
        if self.launched.contains(&extension) || self.read.contains(&to.memory) {
            return Err(format!(
                "the {} is written after a kernel or a copy could read it, so the next run finds \
                 what this one left; write it first",
                memory.name
            ));
        }
        if to.offset <= *fresh {
            *fresh = end;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::plan::Data;
    use super::*;

    fn at(memory: usize, offset: u64) -> At {
        At { memory, offset }
    }

    fn write(offset: u64, bytes: usize) -> Step {
        Step::Write {
            to: at(0, offset),
            data: Data {
                bytes: vec![0; bytes],
                pointers: Vec::new(),
            },
        }
    }

    fn launch(memory: usize) -> Step {
        Step::Launch(Launch {
            extension: 0,
            kernel: "k".to_owned(),
            grid: [1; 3],
            block: [1; 3],
            shared: 0,
            cooperative: false,
            cluster: None,
            arguments: vec![Data {
                bytes: vec![0; 8],
                pointers: vec![(0, at(memory, 0))],
            }],
        })
    }

    fn run(steps: &[Step]) -> Result<(), String> {
        let memory = |origin| Memory {
            name: "variable w".to_owned(),
            origin,
            bytes: 64,
        };
        let variable = Origin::Variable {
            extension: 0,
            name: "w".to_owned(),
        };
        let buffers = [memory(variable), memory(Origin::Own)];
        let mut variables = Variables::default();
        steps
            .iter()
            .try_for_each(|step| variables.meet(step, &buffers))
    }

    #[test]
    fn no_run_finds_what_another_one_left() {
        let read = Step::Copy {
            to: at(1, 0),
            from: at(0, 0),
            bytes: 8,
        };
        assert_eq!(run(&[launch(1), launch(1)]), Ok(()));
        assert_eq!(run(&[write(0, 32), write(32, 32), launch(1)]), Ok(()));
        let layers = [write(0, 64), launch(1), write(0, 32), launch(1)];
        assert_eq!(run(&layers), Ok(()), "what was written anew may change");
        assert!(run(&[launch(1), write(0, 8)]).is_err());
        assert!(run(&[write(0, 8), launch(1), write(8, 8)]).is_err());
        assert!(run(&[write(8, 8), launch(1), write(0, 8)]).is_err());
        assert!(run(&[read, write(0, 8)]).is_err());
        assert!(run(&[launch(0)]).is_err(), "a kernel may write there");
    }
}
