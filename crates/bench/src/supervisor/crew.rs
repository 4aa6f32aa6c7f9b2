//! The other cores of a slot of several: one thread on each, for what all cores do at once.
#![expect(unsafe_code, reason = "buffers are read and touched through addresses while their owner waits")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread::{JoinHandle, Thread};

use crate::supervisor::probe::{arithmetic_probe, wake_for};
use crate::sys;

/// How long waking takes.
const WAKE_S: f64 = 1e-3;
/// The step of touching: one of each cache line.
const LINE: usize = 64;

/// What a member is asked for.
const PROBE: usize = 0;
const WAKE: usize = 1;
const WARM: usize = 2;

/// Threads on all cores of a slot but the first, which is the caller's.
pub(crate) struct Crew {
    members: Vec<Member>,
}

struct Member {
    shared: Arc<Shared>,
    thread: Thread,
    _handle: JoinHandle<()>,
}

#[derive(Default)]
struct Shared {
    asked: AtomicUsize,
    work: AtomicUsize,
    answered: AtomicUsize,
    seconds: AtomicU64,
    /// What to read and what to touch while warming: addresses and lengths.
    read: [AtomicUsize; 2],
    touch: [AtomicUsize; 2],
}

impl Crew {
    /// A crew for `cores`, the first of which the caller already runs on.
    pub(crate) fn new(cores: &[usize]) -> Self {
        Self { members: cores.iter().skip(1).map(|core| Member::start(*core)).collect() }
    }

    /// Probes all cores at once: the slowest one's seconds.
    pub(crate) fn probe(&self) -> f64 {
        self.all(PROBE, arithmetic_probe)
    }

    /// Keeps all cores of a slot of several busy for a moment. While a run is prepared on one core
    /// the others fall asleep, and waking them would be part of the candidate's time.
    pub(crate) fn wake(&self) {
        if !self.members.is_empty() {
            self.all(WAKE, || {
                wake_for(WAKE_S);
                0.0
            });
        }
    }

    /// Leaves buffers in the caches as a run before would have left them: inputs read by every core,
    /// each core's share of the outputs written by it. Filled on one core alone, every line would have to
    /// come from that core's cache, which no program outside a bench ever meets.
    pub(crate) fn warm(&self, inputs: &[u8], outputs: &mut [u8]) {
        if self.members.is_empty() {
            return;
        }
        let share = outputs.len().div_ceil(self.members.len() + 1).next_multiple_of(LINE);
        let (mine, theirs) = outputs.split_at_mut(share.min(outputs.len()));
        let mut shares = theirs.chunks_mut(share);
        for member in &self.members {
            let touched = shares.next().unwrap_or_default();
            let place = [touched.as_mut_ptr() as usize, touched.len()];
            let told = [inputs.as_ptr() as usize, inputs.len()];
            for (to, value) in member.shared.read.iter().chain(&member.shared.touch).zip(told.into_iter().chain(place))
            {
                to.store(value, Ordering::Relaxed);
            }
        }
        self.all(WARM, || {
            read(inputs);
            touch(mine);
            0.0
        });
    }

    /// Lets every member and the caller do the same; the largest answer.
    fn all(&self, work: usize, own: impl FnOnce() -> f64) -> f64 {
        for member in &self.members {
            member.ask(work);
        }
        let own = own();
        self.members.iter().map(Member::answer).fold(own, f64::max)
    }
}

impl Member {
    fn start(core: usize) -> Self {
        let shared = Arc::new(Shared::default());
        let inner = Arc::clone(&shared);
        // The supervisor's alarm must reach its main thread, so members start with it blocked.
        let handle = sys::without_alarms(|| {
            std::thread::spawn(move || {
                // Without its core the probe is only less telling.
                drop(sys::pin(0, &[core]));
                inner.serve();
            })
        });
        Self { shared, thread: handle.thread().clone(), _handle: handle }
    }

    fn ask(&self, work: usize) {
        self.shared.work.store(work, Ordering::Relaxed);
        self.shared.asked.fetch_add(1, Ordering::Release);
        self.thread.unpark();
    }

    fn answer(&self) -> f64 {
        while self.shared.answered.load(Ordering::Acquire) != self.shared.asked.load(Ordering::Relaxed) {
            std::hint::spin_loop();
        }
        f64::from_bits(self.shared.seconds.load(Ordering::Relaxed))
    }
}

impl Shared {
    fn serve(&self) {
        let mut done = 0;
        loop {
            while self.asked.load(Ordering::Acquire) == done {
                std::thread::park();
            }
            done += 1;
            let seconds = match self.work.load(Ordering::Relaxed) {
                WAKE => {
                    wake_for(WAKE_S);
                    0.0
                }
                WARM => {
                    self.warm();
                    0.0
                }
                _ => arithmetic_probe(),
            };
            self.seconds.store(seconds.to_bits(), Ordering::Relaxed);
            self.answered.store(done, Ordering::Release);
        }
    }

    fn warm(&self) {
        let place = |of: &[AtomicUsize; 2]| [of[0].load(Ordering::Relaxed), of[1].load(Ordering::Relaxed)];
        let ([inputs, inputs_bytes], [outputs, outputs_bytes]) = (place(&self.read), place(&self.touch));
        if inputs_bytes > 0 {
            // SAFETY: `Crew::warm` borrows the buffer until every member has answered, and nobody writes it.
            read(unsafe { std::slice::from_raw_parts(inputs as *const u8, inputs_bytes) });
        }
        if outputs_bytes > 0 {
            // SAFETY: as above; the shares of the members do not overlap.
            touch(unsafe { std::slice::from_raw_parts_mut(outputs as *mut u8, outputs_bytes) });
        }
    }
}

/// Brings a buffer into this core's caches.
fn read(buffer: &[u8]) {
    std::hint::black_box(buffer.iter().step_by(LINE).fold(0u8, |sum, byte| sum.wrapping_add(*byte)));
}

/// Writes every line of a buffer and changes nothing.
fn touch(buffer: &mut [u8]) {
    for byte in buffer.iter_mut().step_by(LINE) {
        // SAFETY: a valid, exclusive reference. A plain store of what is there already could be left out.
        unsafe { std::ptr::write_volatile(byte, std::ptr::read_volatile(byte)) };
    }
}
