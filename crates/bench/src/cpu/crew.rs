//! The other cores of a slot: one thread on each, for work that all cores do at once.
#![expect(
    unsafe_code,
    reason = "members work on what the caller borrows, which waits until all are done"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::thread::{JoinHandle, Thread};

use crate::cpu::arithmetic::{arithmetic_probe, wake_for};
use crate::sys;

/// How long waking takes.
const WAKE_S: f64 = 1e-3;
/// The step for touching memory: one byte per cache line.
const LINE: usize = 64;

/// The work of a member, given its number. It returns a number.
type Work<'a> = dyn Fn(usize) -> f64 + Sync + 'a;

/// Threads on all cores of a slot except the first, which belongs to the caller, member 0.
pub(crate) struct Crew {
    members: Vec<Member>,
    /// Whether members stay busy while they wait instead of sleeping.
    awake: Arc<AtomicBool>,
}

struct Member {
    shared: Arc<Shared>,
    thread: Thread,
    _handle: JoinHandle<()>,
}

#[derive(Default)]
struct Shared {
    asked: AtomicUsize,
    /// The caller's reference to the current work.
    work: AtomicPtr<&'static Work<'static>>,
    answered: AtomicUsize,
    answer: AtomicU64,
}

impl Crew {
    /// A crew for `cores`, the first of which the caller already runs on.
    pub(crate) fn new(cores: &[usize]) -> Self {
        let awake = Arc::new(AtomicBool::new(false));
        let start =
            |(number, core): (usize, &usize)| Member::start(number, *core, Arc::clone(&awake));
        Self {
            members: cores.iter().enumerate().skip(1).map(start).collect(),
            awake,
        }
    }

    /// Keeps all cores busy until [`Self::rest`].
    ///
    /// A host may put two waking cores of a virtual machine on one of its own, and spread them out
    /// only after a while. Cores that never sleep stay where they are.
    pub(crate) fn stay_awake(&self) {
        if !self.awake.swap(true, Ordering::Release) {
            self.members
                .iter()
                .for_each(|member| member.thread.unpark());
        }
    }

    /// Leaves the cores idle or to the candidate.
    pub(crate) fn rest(&self) {
        self.awake.store(false, Ordering::Release);
    }

    /// Probes all cores at once and returns the slowest one's seconds.
    ///
    /// The threads wait for each other first. Two threads on one core halve each other's speed. If
    /// probes overlapped only at times, the result would depend on their start and not on the
    /// machine.
    pub(crate) fn probe(&self) -> f64 {
        let arrived = AtomicUsize::new(0);
        self.all(&|_| {
            arrived.fetch_add(1, Ordering::AcqRel);
            while arrived.load(Ordering::Acquire) <= self.members.len() {
                std::hint::spin_loop();
            }
            arithmetic_probe()
        })
    }

    /// Keeps all cores of a slot busy for a moment. While one core prepares a run the others fall
    /// asleep, and waking them would count as the candidate's time.
    pub(crate) fn wake(&self) {
        if !self.members.is_empty() {
            self.all(&|_| {
                wake_for(WAKE_S);
                0.0
            });
        }
    }

    /// Leaves buffers in the caches as an earlier run would have left them: each core writes its
    /// share of the outputs, then every core reads the inputs. Otherwise every line would come from
    /// the cache of the core that filled it, which no program outside a bench meets. Inputs come
    /// last. They push the outputs from a core's own cache into the shared one, as in a program
    /// that makes call after call. A line that another core has just written costs more than one
    /// that no core holds.
    pub(crate) fn warm(&self, inputs: &[u8], outputs: &mut [u8]) {
        if self.members.is_empty() {
            return;
        }
        let share = outputs
            .len()
            .div_ceil(self.members.len() + 1)
            .next_multiple_of(LINE);
        let shares: Vec<_> = outputs
            .chunks_mut(share.max(LINE))
            .map(std::sync::Mutex::new)
            .collect();
        self.all(&|number| {
            if let Some(mut share) = shares.get(number).and_then(|share| share.lock().ok()) {
                touch(&mut share);
            }
            read(inputs);
            0.0
        });
    }

    /// Does `work` for all of `0..count`, shared among the cores.
    pub(crate) fn share(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
        if self.members.is_empty() || count == 1 {
            (0..count).for_each(work);
            return;
        }
        self.all(&|number| {
            (number..count)
                .step_by(self.members.len() + 1)
                .for_each(work);
            0.0
        });
    }

    /// Every member and the caller do `work`. Returns the largest result.
    fn all(&self, work: &Work<'_>) -> f64 {
        let place: *const &Work<'_> = &raw const work;
        for member in &self.members {
            member.ask(place.cast_mut().cast());
        }
        // Even if the work panics here, its data must outlive the other members' work.
        let waiting = Waiting(self);
        let own = work(0);
        drop(waiting);
        self.members.iter().map(Member::answer).fold(own, f64::max)
    }
}

/// Waits for all members when dropped.
struct Waiting<'a>(&'a Crew);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        for member in &self.0.members {
            member.wait();
        }
    }
}

impl Member {
    fn start(number: usize, core: usize, awake: Arc<AtomicBool>) -> Self {
        let shared = Arc::new(Shared::default());
        let inner = Arc::clone(&shared);
        // The supervisor's alarm must reach its main thread, so members start with the signal
        // blocked.
        let handle = sys::without_signals(|| {
            std::thread::spawn(move || {
                // If pinning fails, the probe is only less accurate.
                drop(sys::pin(0, &[core]));
                inner.serve(number, &awake);
            })
        });
        Self {
            shared,
            thread: handle.thread().clone(),
            _handle: handle,
        }
    }

    fn ask(&self, work: *mut &'static Work<'static>) {
        self.shared.work.store(work, Ordering::Relaxed);
        self.shared.asked.fetch_add(1, Ordering::Release);
        self.thread.unpark();
    }

    fn wait(&self) {
        while self.shared.answered.load(Ordering::Acquire)
            != self.shared.asked.load(Ordering::Relaxed)
        {
            std::hint::spin_loop();
        }
    }

    fn answer(&self) -> f64 {
        f64::from_bits(self.shared.answer.load(Ordering::Relaxed))
    }
}

impl Shared {
    fn serve(&self, number: usize, awake: &AtomicBool) {
        let mut done = 0;
        loop {
            while self.asked.load(Ordering::Acquire) == done {
                if awake.load(Ordering::Acquire) {
                    idle_work();
                } else {
                    std::thread::park();
                }
            }
            done += 1;
            // SAFETY: `Crew::all` keeps the reference and its target alive until this member has
            // answered.
            let work = unsafe { *self.work.load(Ordering::Relaxed) };
            let answer = {
                let _loud = Loud;
                work(number)
            };
            self.answer.store(answer.to_bits(), Ordering::Relaxed);
            self.answered.store(done, Ordering::Release);
        }
    }
}

/// A microsecond of busy waiting. It does not use the pause instruction, because a host takes the
/// core away from a thread that pauses for long.
fn idle_work() {
    for round in 0..1_000 {
        std::hint::black_box(round);
    }
}

/// Ends the process when a member panics, because the caller would wait forever.
struct Loud;

impl Drop for Loud {
    fn drop(&mut self) {
        if std::thread::panicking() {
            std::process::abort();
        }
    }
}

/// Brings a buffer into this core's caches.
fn read(buffer: &[u8]) {
    std::hint::black_box(
        buffer
            .iter()
            .step_by(LINE)
            .fold(0u8, |sum, byte| sum.wrapping_add(*byte)),
    );
}

/// Writes every line of a buffer and changes nothing.
fn touch(buffer: &mut [u8]) {
    for byte in buffer.iter_mut().step_by(LINE) {
        // SAFETY: a valid, exclusive reference. The compiler could remove a plain store of the same
        // value.
        unsafe { std::ptr::write_volatile(byte, std::ptr::read_volatile(byte)) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_work_is_done_once_each_and_seen_by_the_caller() {
        for cores in [&[0][..], &[0, 0], &[0, 0, 0]] {
            let crew = Crew::new(cores);
            for (round, count) in [0, 1, 2, 7, 100, 100, 7].into_iter().enumerate() {
                // Asleep, awake, and asleep again.
                if (2..5).contains(&round) {
                    crew.stay_awake();
                } else {
                    crew.rest();
                }
                let done: Vec<AtomicUsize> = (0..count).map(|_| AtomicUsize::new(0)).collect();
                crew.share(count, &|at| {
                    done[at].fetch_add(1, Ordering::Relaxed);
                });
                assert!(
                    done.iter().all(|done| done.load(Ordering::Relaxed) == 1),
                    "{count} on {}",
                    cores.len()
                );
            }
        }
    }

    #[test]
    fn warming_changes_nothing() {
        let (inputs, mut outputs) = (
            vec![1; 1000],
            (0..1000).map(|at| at as u8).collect::<Vec<u8>>(),
        );
        let before = outputs.clone();
        Crew::new(&[0, 0, 0]).warm(&inputs, &mut outputs);
        assert_eq!(outputs, before);
    }
}
