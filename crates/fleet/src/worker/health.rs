//! Whether a worker's machine is fit to judge.
//!
//! Failures on three different candidates in a row make the machine suspect. The worker then judges
//! the seed of their task, which decides. A noisy machine is measured again every minute.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use hotloop_flow::BenchError;

use crate::wire::{State, WorkerNoise};

/// Failures in a row, on different candidates, that make the machine suspect.
const IN_A_ROW: usize = 3;
/// How often the noise of a noisy machine is measured.
const LISTEN: Duration = Duration::from_mins(1);
/// The period of rates.
const MINUTE: Duration = Duration::from_mins(1);

/// The health of a worker's machine.
pub(super) struct Health {
    state: State,
    noise: WorkerNoise,
    calm: f64,
    listened: Instant,
    failures: Vec<String>,
    judged: u64,
    failed: u64,
    recent: VecDeque<Instant>,
    last_error: Option<String>,
}

impl Health {
    pub(super) fn new(noise: WorkerNoise, calm: f64) -> Self {
        let mut health = Self {
            state: State::Ready,
            noise,
            calm,
            listened: Instant::now(),
            failures: Vec::new(),
            judged: 0,
            failed: 0,
            recent: VecDeque::new(),
            last_error: None,
        };
        health.listened(noise);
        health
    }

    pub(super) fn is_ready(&self) -> bool {
        self.state == State::Ready
    }

    pub(super) fn state(&self) -> State {
        self.state.clone()
    }

    pub(super) fn noise(&self) -> WorkerNoise {
        self.noise
    }

    pub(super) fn drain(&mut self) {
        self.state = State::Draining;
    }

    pub(super) fn judged(&mut self) {
        self.judged += 1;
        self.failures.clear();
        self.recent.push_back(Instant::now());
    }

    /// Counts a failure on `candidate`. Returns true if the machine is suspect now.
    pub(super) fn failed(&mut self, candidate: &str, error: &BenchError) -> bool {
        self.failed += 1;
        self.last_error = Some(error.what.clone());
        if !self.failures.iter().any(|known| known == candidate) {
            self.failures.push(candidate.to_owned());
        }
        self.failures.len() >= IN_A_ROW
    }

    /// The seed could be judged, so the candidates were at fault.
    pub(super) fn acquit(&mut self) {
        self.failures.clear();
    }

    /// The machine is unfit. Only a restart of the worker changes that.
    pub(super) fn condemn(&mut self, error: &BenchError) {
        self.last_error = Some(error.what.clone());
        if self.state != State::Draining {
            self.state = State::Quarantined(format!(
                "the machine failed {IN_A_ROW} times in a row: {}",
                error.what
            ));
        }
    }

    /// Whether it is time to measure the noise again.
    pub(super) fn wants_listening(&self) -> bool {
        let noisy = self.noise.calm < self.calm;
        matches!(self.state, State::Quarantined(_)) && noisy && self.listened.elapsed() >= LISTEN
    }

    pub(super) fn listened(&mut self, noise: WorkerNoise) {
        self.noise = noise;
        self.listened = Instant::now();
        self.state = if noise.calm < self.calm {
            State::Quarantined(format!(
                "not quiet: {:.0} % of probes were calm, and worker.calm asks for {:.0} %",
                noise.calm * 100.0,
                self.calm * 100.0
            ))
        } else {
            State::Ready
        };
    }

    pub(super) fn judged_count(&self) -> u64 {
        self.judged
    }

    pub(super) fn failed_count(&self) -> u64 {
        self.failed
    }

    pub(super) fn last_error(&self) -> Option<String> {
        self.last_error.clone()
    }

    /// Verdicts in the last minute.
    pub(super) fn per_minute(&mut self) -> f64 {
        while self.recent.front().is_some_and(|at| at.elapsed() > MINUTE) {
            self.recent.pop_front();
        }
        self.recent.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(calm: f64) -> WorkerNoise {
        WorkerNoise {
            calm,
            peak_cv: 0.0,
            peak_gflops: 1.0,
        }
    }

    #[test]
    fn only_different_candidates_in_a_row_raise_suspicion() {
        let mut health = Health::new(noise(1.0), 0.5);
        let error = BenchError::machine("x");
        assert!(
            (0..9).all(|_| !health.failed("same", &error)),
            "one bad candidate, however often"
        );
        assert!(!health.failed("b", &error));
        health.judged();
        assert!(!health.failed("c", &error) && !health.failed("d", &error));
        assert!(health.failed("e", &error), "three in a row");
        assert!(health.is_ready(), "suspicion is no verdict");
        health.condemn(&error);
        assert!(matches!(health.state(), State::Quarantined(_)));
        assert!(!health.wants_listening(), "noise was not the reason");
    }

    #[test]
    fn a_noisy_machine_takes_nothing_until_it_is_quiet() {
        let mut health = Health::new(noise(0.3), 0.5);
        assert!(!health.is_ready());
        health.listened(noise(0.9));
        assert!(health.is_ready());
    }
}
