//! What the examiner's process holds: its context, its memory, and its runners.

use std::time::{Duration, Instant};

use crate::gpu::driver::{Address, Attribute, Driver, Event, Failure, Gpu};
use crate::gpu::examine::arena::Arena;
use crate::gpu::examine::desk::Desk;
use crate::gpu::examine::pool::{Lost, Pool, Runner};
use crate::gpu::examine::request::Opening;
use crate::gpu::examine::runner::{FromRunner, RunnerSpec, ToRunner, sweep_bytes};
use crate::gpu::examine::timing::Idle;
use crate::gpu::examine::work::Trouble;
use crate::gpu::trusted::Kernels;
use crate::inputs::Fresh;

/// Bytes of the shared memory at first: so much, or a part of the GPU's memory.
const INPUT_BYTES: u64 = 512 << 20;
const WORK_BYTES: u64 = 1 << 30;
const PART: u64 = 16;
/// Shared memory is kept while it is at most so many times as large as a candidate needs.
const KEPT: u64 = 4;
/// Up to here memory doubles as it grows. Beyond, half of it could be missing elsewhere.
const LARGE: u64 = 4 << 30;
/// Words of what comparisons find.
pub(super) const RESULT_WORDS: u64 = 4096;
/// Rounds by which the cost of a round is known.
const IDLE_ROUNDS: usize = 7;
/// Time for a runner that does nothing.
const REST: Duration = Duration::from_secs(10);

/// The examiner's process.
pub(super) struct Station {
    pub(super) gpu: Gpu,
    pub(super) kernels: Kernels,
    /// Their code.
    pub(super) trusted: Vec<u8>,
    pub(super) fresh: Fresh,
    pub(super) inputs: Arena,
    pub(super) work: Arena,
    pub(super) desk: Desk,
    pub(super) results: Address,
    /// Marks for the examiner's own clocking.
    pub(super) marks: [Event; 2],
    pub(super) swept: Address,
    pub(super) sweep_bytes: u64,
    pub(super) total_bytes: u64,
    /// Bytes of both shared memories at first.
    first_bytes: [u64; 2],
    opening: Opening,
    pool: Pool,
    /// The runner at work, and what a round costs it.
    at_work: Option<(Runner, Idle)>,
}

impl Station {
    /// Opens the GPU with the trusted kernels and starts the runners.
    pub(super) fn open(opening: Opening, trusted: Vec<u8>) -> Result<Self, Trouble> {
        let mut fresh =
            Fresh::from_system().map_err(|error| Trouble::Machine(error.to_string()))?;
        let driver = Driver::load().map_err(Trouble::Machine)?;
        let gpu = Gpu::open(driver)?;
        if gpu.attribute(Attribute::SharesByDescriptor)? == 0 {
            return Err(Trouble::Machine(
                "this GPU cannot share memory between processes (no POSIX file descriptors), as \
                 some virtual GPUs cannot"
                    .into(),
            ));
        }
        let multiprocessors = gpu.attribute(Attribute::Multiprocessors)?.max(1) as u32;
        let kernels = Kernels::load(&gpu, &trusted, multiprocessors)?;
        let total_bytes = gpu.memory_bytes()?;
        let arena = |most: u64, fresh: &mut Fresh| {
            Arena::new(&gpu, &kernels, most.min(total_bytes / PART), fresh)
        };
        let (inputs, work) = (
            arena(INPUT_BYTES, &mut fresh)?,
            arena(WORK_BYTES, &mut fresh)?,
        );
        let first_bytes = [inputs.bytes(), work.bytes()];
        let pool = start_pool(&opening, &inputs, &work)?;
        let sweep_bytes = sweep_bytes(&gpu)?;
        let swept = gpu.allocate(sweep_bytes)?;
        let results = gpu.allocate(8 * RESULT_WORDS)?;
        let desk = Desk::new(&gpu, 1 << 20)?;
        let marks = [gpu.event()?, gpu.event()?];
        Ok(Self {
            gpu,
            kernels,
            trusted,
            fresh,
            inputs,
            work,
            desk,
            results,
            marks,
            swept,
            sweep_bytes,
            total_bytes,
            first_bytes,
            opening,
            pool,
            at_work: None,
        })
    }

    /// Makes the shared memory at least as large, and not much larger: a candidate that allocated
    /// much is no reason to keep it. Runners that map the old one end.
    pub(super) fn make_room(&mut self, inputs: u64, work: u64) -> Result<(), Trouble> {
        let now = [self.inputs.bytes(), self.work.bytes()];
        let sizes = [
            resized(now[0], self.first_bytes[0], inputs),
            resized(now[1], self.first_bytes[1], work),
        ];
        if sizes == now {
            return Ok(());
        }
        self.at_work = None;
        self.pool.end();
        let (gpu, kernels) = (&self.gpu, &self.kernels);
        let mut made = Vec::new();
        for bytes in sizes {
            let arena = Arena::new(gpu, kernels, bytes, &mut self.fresh);
            made.push(arena.map_err(|failure| {
                Trouble::Memory(format!(
                    "the GPU has no {bytes} bytes for a candidate's buffers: {failure}"
                ))
            })?);
        }
        for (old, new) in [&mut self.work, &mut self.inputs]
            .into_iter()
            .zip(made.into_iter().rev())
        {
            std::mem::replace(old, new).release(gpu)?;
        }
        self.pool = start_pool(&self.opening, &self.inputs, &self.work)?;
        Ok(())
    }

    /// The runner at work, and what a round costs it. Where there is none, a spare takes over.
    pub(super) fn runner(&mut self) -> Result<&mut (Runner, Idle), Trouble> {
        if self.at_work.is_none() {
            let runner = self.pool.take().map_err(Trouble::Machine)?;
            self.at_work = Some((runner, Idle::default()));
            let idle = self.rest(IDLE_ROUNDS)?;
            if let Some((_, known)) = &mut self.at_work {
                *known = idle;
            }
        }
        self.at_work
            .as_mut()
            .ok_or_else(|| Trouble::Machine("there is no runner".into()))
    }

    /// Lets the runner do nothing a few times: what a round costs, now.
    pub(super) fn rest(&mut self, rounds: usize) -> Result<Idle, Trouble> {
        self.rest_with_a_candidate(rounds)?
            .map_err(|how| Trouble::Machine(format!("a runner that rests is lost: {how}")))
    }

    /// The same while a candidate is loaded: what it began may end the runner only now. The inner
    /// error says how.
    pub(super) fn rest_with_a_candidate(
        &mut self,
        rounds: usize,
    ) -> Result<Result<Idle, String>, Trouble> {
        let mut seen = Vec::new();
        for _ in 0..rounds {
            self.kernels.nothing(&self.gpu)?;
            self.gpu.synchronize()?;
            let how = match self.ask(&ToRunner::Rest, &[], REST)? {
                Ok((FromRunner::Ran(run), took_s)) => {
                    seen.push((run, took_s));
                    continue;
                }
                Ok((FromRunner::Failed { how, .. }, _)) => how,
                Ok((other, _)) => format!("it says {other:?}"),
                Err(lost) => format!("{lost:?}"),
            };
            self.lose_runner();
            return Ok(Err(how));
        }
        Ok(Ok(Idle::of(&seen)))
    }

    /// Asks the runner at work. The seconds are those until its answer, by this process's clock.
    pub(super) fn ask(
        &mut self,
        request: &ToRunner,
        code: &[&[u8]],
        patience: Duration,
    ) -> Result<Result<(FromRunner, f64), Lost>, Trouble> {
        let (runner, _) = self
            .at_work
            .as_mut()
            .ok_or_else(|| Trouble::Machine("there is no runner".into()))?;
        let since = Instant::now();
        let answer = runner.ask(request, code, patience);
        Ok(answer.map(|answer| (answer, since.elapsed().as_secs_f64())))
    }

    pub(super) fn has_runner(&self) -> bool {
        self.at_work.is_some()
    }

    /// What a round costs the runner at work.
    pub(super) fn idle(&mut self) -> Result<Idle, Trouble> {
        self.runner().map(|(_, idle)| *idle)
    }

    /// Ends the runner at work. When this returns it uses the GPU no more.
    pub(super) fn lose_runner(&mut self) {
        self.at_work = None;
    }

    /// Whether a fresh runner can do nothing: then the GPU works, and what failed was the
    /// candidate's.
    pub(super) fn is_well(&mut self) -> Result<(), Trouble> {
        self.gpu.synchronize()?;
        self.lose_runner();
        self.runner().map(drop)
    }

    /// Seconds of some runs of the examiner's own work, each after a sweep.
    pub(super) fn clock(
        &self,
        runs: usize,
        mut work: impl FnMut(&Self) -> Result<(), Failure>,
    ) -> Result<Vec<f64>, Failure> {
        let [begin, end] = self.marks;
        let mut seconds = Vec::new();
        for _ in 0..=runs {
            self.kernels
                .sweep(&self.gpu, self.swept, self.sweep_bytes)?;
            self.gpu.record(begin)?;
            work(self)?;
            self.gpu.record(end)?;
            self.gpu.synchronize()?;
            seconds.push(self.gpu.elapsed_s(begin, end)?);
        }
        // The first one warms up.
        seconds.remove(0);
        Ok(seconds)
    }
}

/// The bytes of a shared memory of `now` bytes for a candidate that takes `need`.
fn resized(now: u64, first: u64, need: u64) -> u64 {
    let rounded = if need > LARGE {
        need.next_multiple_of(LARGE / 4)
    } else {
        need.next_power_of_two()
    };
    let wanted = first.max(rounded);
    if need > now || now / KEPT > wanted {
        wanted
    } else {
        now
    }
}

fn start_pool(opening: &Opening, inputs: &Arena, work: &Arena) -> Result<Pool, Trouble> {
    let spec = RunnerSpec {
        input_bytes: inputs.bytes(),
        work_bytes: work.bytes(),
        seccomp: opening.seccomp,
    };
    let copy = |arena: &Arena| {
        let copied = arena.fd.try_clone();
        copied.map_err(|error| Trouble::Machine(format!("shared memory: {error}")))
    };
    let (inputs, work) = (copy(inputs)?, copy(work)?);
    Pool::start(spec, inputs, work, opening.spares as usize).map_err(Trouble::Machine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_memory_grows_at_once_and_shrinks_where_it_is_much_too_large() {
        const MIB: u64 = 1 << 20;
        assert_eq!(resized(512 * MIB, 512 * MIB, 0), 512 * MIB);
        assert_eq!(resized(512 * MIB, 512 * MIB, 513 * MIB), 1024 * MIB);
        let grown = resized(512 * MIB, 512 * MIB, 16 << 30);
        assert_eq!(grown, 16 << 30);
        assert_eq!(resized(512 * MIB, 512 * MIB, (9 << 30) + 1), 10 << 30);
        assert_eq!(resized(grown, 512 * MIB, 5 << 30), grown, "no to and fro");
        assert_eq!(resized(grown, 512 * MIB, MIB), 512 * MIB);
        assert_eq!(resized(grown, 512 * MIB, 3 << 29), 2 << 30);
    }
}
