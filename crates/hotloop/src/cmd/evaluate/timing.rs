//! Fresh timings of seeds and of the fastest candidates, because a single timing may be lucky.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

use hotloop_flow::seed::{self, SeedError};
use hotloop_flow::{
    Baseline, BenchError, Candidate, Job, JobId, Judgement, Measured, Pace, Stage, Task, Verdict,
};
use serde::Serialize;

use crate::failure::Failure;
use crate::judging::Judging;
use crate::progress::Progress;

/// How often a seed or a fast candidate is timed.
const TIMES: usize = 3;
/// How often a timing is tried if the machine fails.
const TRIES: usize = 2;
/// How many of the fastest candidates are timed again.
const FASTEST: usize = 3;

/// The fastest candidate.
#[derive(Debug, Serialize)]
pub(super) struct Best {
    /// The median of fresh timings, in the unit of the evaluation.
    pub(super) speed: f64,
    seconds_per_call: f64,
    pub(super) speedup: f64,
    pub(super) peak_fraction: Option<f64>,
    pub(super) baseline: Option<Baseline>,
    pub(super) baseline_ratio: Option<f64>,
    stage: u8,
    hash: String,
    source: String,
}

/// A task, and its seed's judgement on this bench.
pub(super) struct Asked {
    pub(super) task: Arc<Task>,
    pub(super) verdict: Verdict,
    pub(super) seed: Measured,
}

/// Why there are no timings.
enum Untimed {
    Stopped,
    /// It was not correct every time.
    Verdict(Box<Verdict>),
    /// The machine failed on this candidate at every try.
    Failed(Failure),
    /// The bench is broken.
    Broken(Failure),
}

/// Judges a candidate a few times, one after the other, because copies that are submitted together
/// are judged once. The verdicts are sorted by speed.
fn timed(
    judging: &mut Judging,
    task: &Arc<Task>,
    candidate: &Candidate,
    stage: Option<Stage>,
) -> Result<Vec<Verdict>, Untimed> {
    let mut verdicts = Vec::new();
    for _ in 0..TIMES {
        let job = Job {
            id: JobId(0),
            task: task.clone(),
            candidate: candidate.clone(),
            stage,
        };
        let judgement = one(judging, &job)?;
        if !judgement.verdict.is_correct() {
            return Err(Untimed::Verdict(Box::new(judgement.verdict)));
        }
        verdicts.push(judgement.verdict);
    }
    let seconds = |verdict: &Verdict| verdict.correct().map(|measured| measured.seconds);
    verdicts.sort_by(|a, b| {
        seconds(b)
            .partial_cmp(&seconds(a))
            .unwrap_or(Ordering::Equal)
    });
    Ok(verdicts)
}

fn one(judging: &mut Judging, job: &Job) -> Result<Judgement, Untimed> {
    let mut failed = None;
    for _ in 0..TRIES {
        let mut came: Option<Result<Judgement, BenchError>> = None;
        let judged = judging.judge(vec![job.clone()], &Progress::hidden(), |_, reply| {
            came = Some(reply);
        });
        judged.map_err(Untimed::Broken)?;
        match came
            .ok_or(Untimed::Stopped)?
            .and_then(Judgement::believable)
        {
            Ok(judgement) => return Ok(judgement),
            Err(error) => failed = Some(error),
        }
    }
    Err(failed.map_or(Untimed::Stopped, |error| Untimed::Failed(error.into())))
}

/// Judges the seed first, because speed-ups are relative to it.
pub(super) fn seed(judging: &mut Judging, task: &Arc<Task>) -> Result<Asked, Failure> {
    let candidate = seed::candidate(task).map_err(|error| Failure::user(error.to_string()))?;
    let unusable = |error: SeedError| Failure::machine(error.to_string());
    let mut verdicts = timed(judging, task, &candidate, None).map_err(|untimed| match untimed {
        Untimed::Stopped => Failure::interrupted(),
        Untimed::Failed(failure) | Untimed::Broken(failure) => failure,
        Untimed::Verdict(verdict) => match seed::measured(task, &verdict) {
            Err(error) => unusable(error),
            Ok(_) => Failure::machine(format!("{}: its seed was not timed", task.spec.name)),
        },
    })?;
    let verdict = verdicts.swap_remove(verdicts.len() / 2);
    let seed = seed::measured(task, &verdict).map_err(unusable)?.clone();
    Ok(Asked {
        task: task.clone(),
        verdict,
        seed,
    })
}

/// The fastest candidate by fresh timings, because the best of many timings is the luckiest. All
/// answers are judged at this point, so a failure here is reported and costs only its candidate.
pub(super) fn best(
    judging: &mut Judging,
    asked: &Asked,
    mut found: Vec<(f64, Stage, Candidate)>,
    tell: &dyn Fn(&str),
) -> Option<Best> {
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut seen = BTreeSet::new();
    found.retain(|(_, _, candidate)| seen.insert(candidate.hash().to_owned()));
    let pace = Pace::of_seed(&asked.seed);
    let mut best: Option<Best> = None;
    for (_, stage, candidate) in found.into_iter().take(FASTEST) {
        let verdicts = match timed(judging, &asked.task, &candidate, Some(stage)) {
            Ok(verdicts) => verdicts,
            Err(Untimed::Verdict(_)) => continue,
            Err(Untimed::Stopped) => break,
            Err(Untimed::Failed(failure)) => {
                tell(&untold(asked, &failure));
                continue;
            }
            Err(Untimed::Broken(failure)) => {
                tell(&untold(asked, &failure));
                break;
            }
        };
        let middle = verdicts.get(verdicts.len() / 2).and_then(Verdict::correct);
        let Some((measured, speed)) =
            middle.and_then(|measured| Some((measured, measured.speed(pace)?)))
        else {
            continue;
        };
        if best.as_ref().is_some_and(|best| best.speed >= speed) {
            continue;
        }
        best = Some(Best {
            speed,
            seconds_per_call: measured.seconds,
            speedup: asked.seed.seconds / measured.seconds,
            peak_fraction: measured.peak_fraction(),
            baseline: measured.baseline.clone(),
            baseline_ratio: measured.baseline_ratio(),
            stage: stage.number(),
            hash: candidate.hash().to_owned(),
            source: candidate.source().to_owned(),
        });
    }
    best
}

fn untold(asked: &Asked, failure: &Failure) -> String {
    format!(
        "{}: a fast candidate could not be timed again: {}",
        asked.task.spec.name,
        failure.what()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::collections::VecDeque;
    use std::time::Duration;

    use hotloop_flow::bench::Seconds;
    use hotloop_flow::{Bench, MachineFacts, Reply};

    use crate::cmd::judge::load;
    use crate::stop::Stop;

    /// A bench with prepared results in GFLOPS; 0 means that the machine fails.
    struct Told {
        says: VecDeque<f64>,
        open: Vec<JobId>,
    }

    impl Bench for Told {
        fn submit(&mut self, jobs: Vec<Job>) -> Result<(), BenchError> {
            self.open.extend(jobs.iter().map(|job| job.id));
            Ok(())
        }

        fn next(&mut self, _: Duration) -> Result<Option<Reply>, BenchError> {
            let Some(id) = self.open.pop() else {
                return Ok(None);
            };
            let judged = match self.says.pop_front() {
                None => return Err(BenchError::machine("the bench is gone")),
                Some(0.0) => Err(BenchError::machine("the machine tripped")),
                Some(gflops) => {
                    let verdict = Verdict::Correct(Measured::steady(gflops, 1.0 / gflops));
                    Ok(Judgement {
                        verdict,
                        seconds: Seconds::default(),
                    })
                }
            };
            Ok(Some(Reply { id, judged }))
        }

        fn cancel(&mut self, _: &[JobId]) {}

        fn facts(&self) -> MachineFacts {
            MachineFacts::default()
        }
    }

    fn judging(says: &[f64]) -> Judging {
        let bench = Told {
            says: says.iter().copied().collect(),
            open: Vec::new(),
        };
        Judging::over(
            Box::new(bench),
            Stop::listen().expect("signals can be caught"),
        )
    }

    /// The index and speed of the best of three candidates, and the complaints.
    fn best_of_three(says: &[f64]) -> (Option<(usize, f64)>, Vec<String>) {
        let task = Arc::new(load("matmul").unwrap_or_else(|failure| panic!("{}", failure.what())));
        let candidates: Vec<Candidate> = (0..3)
            .map(|at| {
                let source = format!("{}\nint other_{at};\n", task.seed);
                Candidate::from_source(source.as_bytes(), &task).expect("it is sound")
            })
            .collect();
        let found = [0.1, 0.2, 0.3].into_iter().zip(&candidates);
        let found = found
            .map(|(seconds, candidate)| {
                (
                    seconds,
                    hotloop_flow::language::c::stages::SIMD,
                    candidate.clone(),
                )
            })
            .collect();
        let asked = Asked {
            task,
            verdict: Verdict::Malformed { why: String::new() },
            seed: Measured::steady(1.0, 1.0),
        };
        let told = RefCell::new(Vec::new());
        let best = best(&mut judging(says), &asked, found, &|why| {
            told.borrow_mut().push(why.to_owned());
        });
        let place = |best: Best| {
            let at = candidates
                .iter()
                .position(|candidate| candidate.hash() == best.hash);
            (at.expect("it is one of them"), best.speed)
        };
        (best.map(place), told.into_inner())
    }

    #[test]
    fn a_machine_that_fails_once_costs_no_line() {
        let task = Arc::new(load("matmul").unwrap_or_else(|failure| panic!("{}", failure.what())));
        let asked = seed(&mut judging(&[3.0, 1.0, 0.0, 2.0]), &task);
        assert_eq!(asked.map(|asked| asked.seed.gflops()).ok(), Some(Some(2.0)));
        let twice = seed(&mut judging(&[3.0, 1.0, 0.0, 0.0]), &task)
            .err()
            .expect("it cannot be timed");
        assert_eq!(twice.what(), "the machine tripped");

        let (best, told) = best_of_three(&[9.0, 9.0, 0.0, 9.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
        assert_eq!((best, told), (Some((0, 9.0)), Vec::new()));
        let (best, told) = best_of_three(&[9.0, 9.0, 0.0, 0.0, 5.0, 6.0, 7.0, 1.0, 1.0, 1.0]);
        assert_eq!(
            best,
            Some((1, 6.0)),
            "the next one is the best that can be timed"
        );
        assert_eq!(
            told,
            ["matmul: a fast candidate could not be timed again: the machine tripped"]
        );
        let (best, told) = best_of_three(&[9.0, 9.0]);
        assert_eq!(
            (best, told.len()),
            (None, 1),
            "a bench that is gone is asked once"
        );
    }

    #[test]
    fn the_best_is_the_fastest_of_fresh_timings_not_the_luckiest() {
        let (best, _) = best_of_three(&[4.0, 4.0, 9.0, 6.0, 6.0, 6.0, 5.0, 5.0, 5.0]);
        assert_eq!(best, Some((1, 6.0)));
    }
}
