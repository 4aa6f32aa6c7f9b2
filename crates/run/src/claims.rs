//! What a run claims of its fastest code, so that somebody else can check it.

use std::path::Path;

use hotloop_flow::{Candidate, Judgement, Measured, Pace, Stage};
use serde::Serialize;

use crate::event::Made;
use crate::fresh::Fresh;
use crate::state::RunState;
use crate::store::{self, StoreError};

/// The claim that a candidate has a speed.
#[derive(Debug, Clone)]
pub struct Claim {
    pub candidate: Candidate,
    /// The stage whose rules it kept.
    pub stage: Option<Stage>,
    /// The step that made it.
    pub step: u64,
    /// Its fastest timing while the run went on, which is partly luck.
    pub seen: f64,
    /// Its fresh timings at the end of the run, if it was among the few that were timed again.
    pub confirmed: Option<Spread>,
}

/// Several timings of one candidate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// The median of the quiet timings, or of all if none was quiet.
    pub middle: f64,
    /// The slowest and the fastest of all timings. With five timings, the interval holds the true
    /// median 15 times of 16.
    pub low: f64,
    pub high: f64,
    pub timings: usize,
}

impl Spread {
    /// The spread of judgements that are all correct.
    pub fn of(judgements: &[Judgement], pace: Pace) -> Option<Self> {
        let Fresh::Right { middle, .. } = Fresh::of(judgements) else {
            return None;
        };
        let measured = judgements.iter().filter_map(|one| one.verdict.correct());
        let speeds: Vec<f64> = measured
            .filter_map(|measured: &Measured| measured.speed(pace))
            .collect();
        Some(Self {
            middle: middle.speed(pace)?,
            low: speeds.iter().copied().reduce(f64::min)?,
            high: speeds.iter().copied().reduce(f64::max)?,
            timings: speeds.len(),
        })
    }
}

/// The claims about the fastest distinct candidates that the run did not disprove itself, fastest
/// first.
pub fn claims(state: &RunState, directory: &Path, count: usize) -> Result<Vec<Claim>, StoreError> {
    let mut claims = Vec::new();
    for (made, stage) in state.fastest(count) {
        let Made::Candidate { hash, .. } = made else {
            continue;
        };
        let Some(timed) = state.as_timed(&hash) else {
            continue;
        };
        let confirmed = state.confirmed.get(&hash);
        claims.push(Claim {
            candidate: store::kept(directory, &hash)?,
            stage,
            step: timed.step,
            seen: timed.speed,
            confirmed: confirmed.and_then(|judged| Spread::of(judged, state.pace())),
        });
    }
    Ok(claims)
}
