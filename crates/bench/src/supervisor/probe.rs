//! Short probes that tell whether the cores are quiet right now.
//!
//! A probe runs on every core of the slot at once: about ten microseconds of arithmetic on
//! data in the first-level cache, and for tasks that live on memory a short read of a larger
//! buffer. The floor is a rolling low quantile, since the host's clock drifts.
#![expect(unsafe_code, reason = "vector instructions behind a run-time check of the CPU")]

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread::{JoinHandle, Thread};

use crate::estimate::quantile;
use crate::sys;

const ROUNDS: usize = 4_000;
const HISTORY: usize = 600;
const FLOOR_QUANTILE: f64 = 0.1;
const STREAM_BYTES: usize = 8 << 20;
const STREAM_STEP: usize = 256 << 10;

/// Probes all cores of a slot and knows their floor.
pub(crate) struct Prober {
    helpers: Vec<Helper>,
    arithmetic: VecDeque<f64>,
    memory: VecDeque<f64>,
    stream: Vec<u64>,
    position: usize,
}

/// A thread that probes one more core when asked.
struct Helper {
    shared: Arc<Shared>,
    thread: Thread,
    _handle: JoinHandle<()>,
}

struct Shared {
    asked: AtomicUsize,
    answered: AtomicUsize,
    seconds: AtomicU64,
}

impl Prober {
    /// A prober of `cores`, the first of which the caller already runs on.
    pub(crate) fn new(cores: &[usize]) -> Self {
        let helpers = cores.iter().skip(1).map(|core| Helper::start(*core)).collect();
        let stream = (0..STREAM_BYTES as u64 / 8).collect();
        let mut prober =
            Self { helpers, arithmetic: VecDeque::new(), memory: VecDeque::new(), stream, position: 0 };
        for _ in 0..100 {
            prober.probe(true);
        }
        prober
    }

    /// Probes now; the answer is relative to the floor, 1 is the floor.
    pub(crate) fn probe(&mut self, memory: bool) -> f64 {
        for helper in &self.helpers {
            helper.ask();
        }
        let mut seconds = arithmetic_probe();
        for helper in &self.helpers {
            seconds = seconds.max(helper.answer());
        }
        let mut relative = push_and_compare(&mut self.arithmetic, seconds);
        if memory {
            // Memory is shared with the whole host and never as steady as a core: its excess counts a third.
            let seconds = self.memory_probe();
            relative = relative.max(1.0 + (push_and_compare(&mut self.memory, seconds) - 1.0) / 3.0);
        }
        relative
    }

    fn memory_probe(&mut self) -> f64 {
        let words = STREAM_STEP / 8;
        self.position = (self.position + words) % (self.stream.len() - words);
        let begin = sys::now();
        let sum: u64 = self.stream[self.position..self.position + words].iter().fold(0, |a, b| a.wrapping_add(*b));
        std::hint::black_box(sum);
        sys::now() - begin
    }
}

fn push_and_compare(history: &mut VecDeque<f64>, seconds: f64) -> f64 {
    if history.len() == HISTORY {
        history.pop_front();
    }
    history.push_back(seconds);
    let values: Vec<f64> = history.iter().copied().collect();
    seconds / quantile(&values, FLOOR_QUANTILE)
}

impl Helper {
    fn start(core: usize) -> Self {
        let shared =
            Arc::new(Shared { asked: AtomicUsize::new(0), answered: AtomicUsize::new(0), seconds: AtomicU64::new(0) });
        let inner = Arc::clone(&shared);
        // The supervisor's alarm must reach its main thread, so helpers start with it blocked.
        let handle = sys::without_alarms(|| {
            std::thread::spawn(move || {
                // Without its core the probe is only less telling.
                drop(sys::pin(0, &[core]));
                let mut done = 0;
                loop {
                    while inner.asked.load(Ordering::Acquire) == done {
                        std::thread::park();
                    }
                    done += 1;
                    inner.seconds.store(arithmetic_probe().to_bits(), Ordering::Relaxed);
                    inner.answered.store(done, Ordering::Release);
                }
            })
        });
        Self { shared, thread: handle.thread().clone(), _handle: handle }
    }

    fn ask(&self) {
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

fn arithmetic_probe() -> f64 {
    let data = [1.000_000_1f64; 64];
    let begin = sys::now();
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
        // SAFETY: the CPU has what the function needs.
        std::hint::black_box(unsafe { fused(&data) });
    } else {
        std::hint::black_box(plain(&data));
    }
    sys::now() - begin
}

/// Eight independent chains of fused multiply-adds with loads: busy on the ports that kernels use.
#[target_feature(enable = "avx2,fma")]
unsafe fn fused(data: &[f64; 64]) -> f64 {
    use std::arch::x86_64::{_mm256_cvtsd_f64, _mm256_fmadd_pd, _mm256_loadu_pd, _mm256_set1_pd};
    let mut chains = [_mm256_set1_pd(1.0); 8];
    let factor = _mm256_set1_pd(0.999_999);
    for round in 0..ROUNDS {
        let start = (round * 8) % 32;
        for (index, chain) in chains.iter_mut().enumerate() {
            // SAFETY: start + index * 4 + 4 <= 24 + 28 + 4 = 56 <= 64.
            let loaded = unsafe { _mm256_loadu_pd(data.as_ptr().add(start + index * 4)) };
            *chain = _mm256_fmadd_pd(*chain, factor, loaded);
        }
    }
    chains.iter().map(|chain| _mm256_cvtsd_f64(*chain)).sum()
}

fn plain(data: &[f64; 64]) -> f64 {
    let mut chains = [1.0f64; 8];
    for round in 0..ROUNDS {
        for (index, chain) in chains.iter_mut().enumerate() {
            *chain = *chain * 0.999_999 + data[(round + index) % 64];
        }
    }
    chains.iter().sum()
}
