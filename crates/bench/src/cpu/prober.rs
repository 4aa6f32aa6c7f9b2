//! Short probes that show whether the cores are quiet right now.
//!
//! A probe runs on every core of the slot at once: about ten microseconds of arithmetic on data in
//! the L1 cache, and for memory-bound tasks a short read of a larger buffer. The floor is a low
//! quantile over the last minutes. That is long enough to have seen the machine undisturbed,
//! because a busy neighbour can stay for seconds. It is short enough to follow the host's clock,
//! which drifts.

use std::collections::VecDeque;

use hotloop_flow::statistics::quantile;

use crate::cpu::crew::Crew;
use crate::sys;

/// The history keeps the fastest probe of each slice of time, for some minutes.
const SLICE_S: f64 = 0.25;
const SLICES: usize = 600;
const FLOOR_QUANTILE: f64 = 0.1;
/// Seconds of probing before the first candidate, to get a floor.
const FIRST_S: f64 = 0.1;
const STREAM_BYTES: usize = 8 << 20;
const STREAM_STEP: usize = 256 << 10;

/// Probes all cores of a slot and knows their floor.
pub(crate) struct Prober {
    arithmetic: Floor,
    memory: Floor,
    stream: Vec<u64>,
    position: usize,
}

impl Prober {
    /// A prober that knows the floor of the crew's cores.
    pub(crate) fn new(crew: &Crew) -> Self {
        let stream = (0..STREAM_BYTES as u64 / 8).collect();
        let mut prober = Self {
            arithmetic: Floor::default(),
            memory: Floor::default(),
            stream,
            position: 0,
        };
        let begin = sys::now();
        while sys::now() - begin < FIRST_S {
            prober.probe(crew, true);
        }
        prober
    }

    /// Probes now. The result is relative to the floor, which is 1.
    pub(crate) fn probe(&mut self, crew: &Crew, memory: bool) -> f64 {
        let mut relative = self.arithmetic.compare(crew.probe());
        if memory {
            // Memory is shared with the whole host and never as steady as a core, so its excess
            // counts a third.
            let seconds = self.memory_probe();
            relative = relative.max(1.0 + (self.memory.compare(seconds) - 1.0) / 3.0);
        }
        relative
    }

    fn memory_probe(&mut self) -> f64 {
        let words = STREAM_STEP / 8;
        self.position = (self.position + words) % (self.stream.len() - words);
        let begin = sys::now();
        let sum: u64 = self.stream[self.position..self.position + words]
            .iter()
            .fold(0, |a, b| a.wrapping_add(*b));
        std::hint::black_box(sum);
        sys::now() - begin
    }
}

/// The fastest probes of the last minutes.
#[derive(Default)]
struct Floor {
    /// Start of the newest slice of time.
    newest: f64,
    /// The fastest probe of each slice.
    fastest: VecDeque<f64>,
    seconds: f64,
}

impl Floor {
    /// Adds a probe to the history and compares it with the floor.
    fn compare(&mut self, seconds: f64) -> f64 {
        let now = sys::now();
        let is_new = now - self.newest >= SLICE_S || self.fastest.is_empty();
        if is_new {
            self.newest = now;
            self.fastest.push_back(seconds);
            if self.fastest.len() > SLICES {
                self.fastest.pop_front();
            }
        }
        let fastest = self.fastest.back_mut().expect("the newest slice");
        if is_new || seconds < *fastest {
            *fastest = fastest.min(seconds);
            self.seconds = quantile(self.fastest.make_contiguous(), FLOOR_QUANTILE);
        }
        seconds / self.seconds
    }
}
