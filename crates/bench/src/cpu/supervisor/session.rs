//! A session: one candidate process with the buffers of all its calls.

use std::ops::Range;
use std::os::fd::OwnedFd;

use hotloop_flow::formula::Sizes;

use crate::cpu::crew::Crew;
use crate::cpu::draws::{self, Note};
use crate::cpu::layout::{Fit, Layout};
use crate::cpu::memory::{Mapping, PAGE};
use crate::cpu::runner::{Plan, RunnerSpec};
use crate::cpu::supervisor::child::{Child, RunnerFiles};
use crate::cpu::supervisor::failure::{Failure, machine};
use crate::cpu::supervisor::protocol::Request;
use crate::cpu::supervisor::watch::Watch;
use crate::cpu::verify::{Buffers, Verifier};
use crate::inputs::Fresh;
use crate::sandbox::limits::{self, Limits};
use crate::sandbox::rights::{OwnThreads, Stacks};
use crate::sys;

/// Threads that a candidate may have in addition to its pool: nested regions, `num_threads(40)`.
const SPARE_THREADS: u64 = 80;
/// Address space that a candidate may use in addition to its buffers, and per thread.
const SPARE_BYTES: u64 = 3 << 30;
const THREAD_BYTES: u64 = 80 << 20;

/// One candidate process with the buffers of all its calls.
pub(crate) struct Session {
    child: Child,
    buffers: Buffers,
    threads_cap: usize,
}

impl Session {
    /// Starts the candidate of `request` on `cores` with one set of buffers per entry of `calls`.
    pub(crate) fn start(
        request: &Request,
        cores: &[usize],
        calls: &[Sizes],
        fit: Fit,
    ) -> Result<Self, Failure> {
        let layout = Layout::new(request.task.function(), calls, fit)
            .map_err(|error| Failure::Machine(format!("layout: {error}")))?;
        let (inputs_file, inputs) = region("inputs", layout.input_bytes)?;
        let (outputs_file, outputs) = region("outputs", layout.output_bytes)?;
        sys::seal(&inputs_file, true).map_err(machine("inputs"))?;
        sys::seal(&outputs_file, false).map_err(machine("outputs"))?;
        let inputs_readonly = sys::reopen_readonly(&inputs_file).map_err(machine("inputs"))?;
        let threads_cap = u64::from(request.threads) * 2 + SPARE_THREADS;
        // In its own namespace only the candidate counts.
        let threads = if request.namespaces {
            threads_cap
        } else {
            limits::beside_others(threads_cap, request.user)
        };
        let spec = RunnerSpec {
            object: request.object.clone(),
            libraries: request.libraries.clone(),
            stacks: Stacks::after_loading(request.libraries.iter().chain([&request.object])),
            // A waiting team could be found and used by a candidate that may have no threads.
            threads: if request.own_threads == OwnThreads::Forbidden {
                1
            } else {
                request.threads
            },
            own_threads: request.own_threads,
            watched: request.watched,
            user: request.user,
            supervisor: std::process::id() as sys::Pid,
            landlock: request.landlock,
            namespaces: request.namespaces,
            limits: Limits {
                address_space: (layout.input_bytes + layout.output_bytes) as u64
                    + SPARE_BYTES
                    + THREAD_BYTES * u64::from(request.threads),
                file_bytes: 0,
                open_files: 16,
                threads,
                cpu_s: 60 + 20 * u64::from(request.threads),
            },
            layout: layout.clone(),
        };
        let files = RunnerFiles {
            inputs: &inputs_readonly,
            outputs: &outputs_file,
        };
        let mut child = Child::start(&spec, &files, &request.environment, cores, request.limit_s)?;
        child.keep_threads_apart()?;
        let buffers = Buffers {
            inputs,
            outputs,
            layout,
            notes: Vec::new(),
        };
        Ok(Self {
            child,
            buffers,
            threads_cap: threads_cap as usize,
        })
    }

    /// The same for one that is watched as it runs: nothing that it can ask for tells it.
    pub(crate) fn start_watched(
        request: &Request,
        cores: &[usize],
        calls: &[Sizes],
        fit: Fit,
    ) -> Result<Self, Failure> {
        let mut session = Self::start(request, cores, calls, fit)?;
        session.child.watch(&request.object)?;
        Ok(session)
    }

    /// Fresh inputs, poisoned outputs.
    pub(crate) fn freshen(
        &mut self,
        verifier: &mut Verifier,
        fresh: &mut Fresh,
        crew: &Crew,
        calls: Range<usize>,
    ) {
        verifier.freshen(fresh, crew, &mut self.buffers, calls);
    }

    /// Flushes all buffers from the caches, for tasks that start cold. Returns whether no byte
    /// of them was left out.
    pub(crate) fn chill(&self) -> bool {
        let layout = &self.buffers.layout;
        self.buffers.inputs.flush() >= layout.input_bytes
            && self.buffers.outputs.flush() >= layout.output_bytes
    }

    /// Leaves all buffers in the caches of all cores, as an earlier run would have.
    pub(crate) fn warm(&mut self, crew: &Crew) {
        let (inputs, outputs) = (
            self.buffers.layout.input_bytes,
            self.buffers.layout.output_bytes,
        );
        crew.warm(
            self.buffers.inputs.slice(0, inputs),
            self.buffers.outputs.slice_mut(0, outputs),
        );
    }

    /// Makes one run of `calls`. Returns the seconds until everything was frozen again.
    pub(crate) fn run(
        &mut self,
        fresh: &mut Fresh,
        calls: Range<usize>,
        limit_s: f64,
    ) -> Result<f64, Failure> {
        let plan = Plan {
            first: calls.start as u32,
            count: calls.len() as u32,
            seed: fresh.word(),
        };
        let seconds = self.child.run(plan, limit_s)?;
        self.read_notes();
        Ok(seconds)
    }

    /// Lets `watch` look at one run of `calls`.
    pub(crate) fn run_watched<T>(
        &mut self,
        fresh: &mut Fresh,
        calls: Range<usize>,
        watch: impl FnOnce(&mut Watch, &mut Fresh) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let plan = Plan {
            first: calls.start as u32,
            count: calls.len() as u32,
            seed: fresh.word(),
        };
        let seen = self.child.run_watched(plan, |child| watch(child, fresh))?;
        self.read_notes();
        Ok(seen)
    }

    /// Reads from a runner's notes where the inputs of its calls began.
    fn read_notes(&mut self) {
        let Buffers {
            outputs,
            layout,
            notes,
            ..
        } = &mut self.buffers;
        let Some((offset, span)) = layout.notes else {
            return;
        };
        let told = outputs.slice(offset, span).as_chunks::<{ Note::BYTES }>().0;
        notes.clear();
        notes.extend(told[..layout.sets.len()].iter().map(Note::from_bytes));
        for (set, note) in layout.sets.iter_mut().zip(notes) {
            for (index, place) in set
                .places
                .iter_mut()
                .enumerate()
                .filter(|(_, place)| place.room > 0)
            {
                place.shift = draws::shift(note.before, index);
            }
        }
    }

    /// Checks all calls of the last run.
    pub(crate) fn check(
        &self,
        verifier: &mut Verifier,
        fresh: &mut Fresh,
        crew: &Crew,
        calls: Range<usize>,
        paper: bool,
    ) -> Result<(), Failure> {
        let threads = self.child.threads();
        if threads > self.threads_cap {
            return Err(Failure::Crashed(format!("left {threads} threads behind")));
        }
        verifier.check(fresh, crew, &self.buffers, calls, paper);
        Ok(())
    }

    /// The number of calls with buffers.
    pub(crate) fn calls(&self) -> usize {
        self.buffers.layout.sets.len()
    }

    /// Bytes of one call's buffers.
    pub(crate) fn bytes_per_call(&self) -> usize {
        let layout = &self.buffers.layout;
        (layout.input_bytes + layout.output_bytes) / layout.sets.len().max(1)
    }
}

fn region(name: &'static str, bytes: usize) -> Result<(OwnedFd, Mapping), Failure> {
    let bytes = bytes.max(PAGE);
    let file = sys::memory_file(name, bytes).map_err(machine(name))?;
    let mapping = Mapping::new(&file, bytes).map_err(machine(name))?;
    Ok((file, mapping))
}
