//! What a run has found: its fastest candidates, by the timings of its steps and by fresh ones.

use std::collections::BTreeSet;

use hotloop_flow::bench::Judgement;
use hotloop_flow::{Stage, Verdict};

use crate::event::Made;
use crate::fresh::Fresh;
use crate::state::RunState;
use crate::state::best::Best;

impl RunState {
    /// Fresh judgements decide which candidate is the best: the fastest of those that were correct
    /// every time. If there is none, it is the fastest that they did not disprove.
    pub(super) fn confirm(&mut self, hash: &str, judgements: &[Judgement]) {
        self.confirmed.insert(hash.to_owned(), judgements.to_vec());
        let pace = self.pace();
        let right =
            self.confirmed
                .iter()
                .filter_map(|(hash, judgements)| match Fresh::of(judgements) {
                    Fresh::Right { middle, timings } => {
                        Some((hash, middle.speed(pace)?, middle, timings))
                    }
                    Fresh::Disproved | Fresh::Unknown => None,
                });
        let fastest = right.max_by(|a, b| a.1.total_cmp(&b.1));
        self.best = match fastest {
            Some((hash, speed, middle, timings)) => Some(Best {
                hash: hash.clone(),
                speed,
                step: self.birth(hash).map_or(0, |(step, ..)| step.number),
                verdict: Verdict::Correct(middle),
                timings,
            }),
            None => self.fastest(1).first().and_then(|(made, _)| match made {
                Made::Candidate { hash, .. } => self.as_timed(hash),
                Made::Malformed { .. } => None,
            }),
        };
    }

    /// A candidate with the fastest timing from the steps that made it.
    pub(crate) fn as_timed(&self, hash: &str) -> Option<Best> {
        let found = self
            .steps
            .iter()
            .flat_map(|step| step.members().map(move |member| (step.number, member)));
        let timed = found.filter(|(_, member)| member.hash.as_deref() == Some(hash));
        let best = timed.filter_map(|(step, member)| {
            let (speed, verdict) = (member.speed?, member.verdict.clone()?);
            Some(Best {
                hash: hash.to_owned(),
                speed,
                step,
                verdict,
                timings: 0,
            })
        });
        best.max_by(|a, b| a.speed.total_cmp(&b.speed))
    }

    /// The fastest distinct candidates that no fresh judgement disproved, fastest first, with the
    /// stage that they were asked for.
    pub(crate) fn fastest(&self, count: usize) -> Vec<(Made, Option<Stage>)> {
        let groups = self.steps.iter().flat_map(|step| &step.groups);
        let mut found: Vec<(f64, &str, &str, Option<Stage>)> = groups
            .flat_map(|group| {
                group
                    .members
                    .iter()
                    .map(|member| (member, group.asked.stage))
            })
            .filter_map(|(member, stage)| {
                Some((
                    member.speed?,
                    member.hash.as_deref()?,
                    member.normal.as_deref()?,
                    stage,
                ))
            })
            .collect();
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        let is_disproved = |hash: &str| {
            self.confirmed
                .get(hash)
                .is_some_and(|judgements| matches!(Fresh::of(judgements), Fresh::Disproved))
        };
        // Candidates that differ from a disproved one only in layout are disproved with it.
        let mut seen: BTreeSet<&str> = found
            .iter()
            .filter(|(_, hash, ..)| is_disproved(hash))
            .map(|(_, _, normal, _)| *normal)
            .collect();
        found.retain(|(_, _, normal, _)| seen.insert(*normal));
        let made = |hash: &str, normal: &str| Made::Candidate {
            hash: hash.to_owned(),
            normal: normal.to_owned(),
        };
        found
            .into_iter()
            .take(count)
            .map(|(_, hash, normal, stage)| (made(hash, normal), stage))
            .collect()
    }
}
