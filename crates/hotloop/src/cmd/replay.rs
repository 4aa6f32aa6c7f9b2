//! `hotloop replay`: judges a run's fastest candidates anew, on this machine and by today's rules.

use std::collections::BTreeMap;
use std::sync::Arc;

use hotloop_flow::{Candidate, Job, JobId, Judgement, Label, Pace, Task, Verdict};
use hotloop_run::claims::{Claim, Spread, claims};
use hotloop_run::{Plan, RunState, store};
use serde::Serialize;

use crate::cli::watch::ReplayArgs;
use crate::cmd::{report, train};
use crate::failure::{Failure, Status};
use crate::judging::Judging;
use crate::output::table::Table;
use crate::output::{complain, count, number, say, say_json};
use crate::progress::Progress;
use crate::runs;
use crate::stop::Stop;

/// A claim beside what this machine measured.
#[derive(Serialize)]
struct Outcome {
    hash: String,
    file: String,
    /// Counted from 1, as everywhere where people read it.
    step: u64,
    stage: Option<u8>,
    unit: &'static str,
    seen: f64,
    confirmed: Option<Spread>,
    /// `None` if it was not correct every time, or the machine failed.
    replayed: Option<Spread>,
    /// How often it got each verdict here.
    verdicts: BTreeMap<Label, usize>,
    /// Why it is not correct here, if it is not.
    why: Option<String>,
    /// How often the machine failed to judge it.
    failures: usize,
}

/// Judges the winners of a run anew.
pub(crate) fn run(arguments: &ReplayArgs) -> Result<Status, Failure> {
    let directory = &arguments.run;
    // Where the run learned from and computed does not matter to its candidates.
    let mut sets = vec!["adapter=".to_owned(), "device=auto".to_owned()];
    sets.push(format!(
        "fleet={}",
        arguments.fleet.as_deref().unwrap_or_default()
    ));
    let plan = train::begun(directory, &sets)?;
    let state = RunState::read(directory).map_err(|error| report::unreadable(&error.into()))?;
    let Some(started) = &state.started else {
        return Err(Failure::user(format!(
            "{}: the run has not started yet",
            directory.display()
        )));
    };
    let claims =
        claims(&state, directory, arguments.count).map_err(|error| report::unreadable(&error))?;
    if claims.is_empty() {
        return Err(Failure::user(format!(
            "{}: the run has no correct candidate",
            directory.display()
        )));
    }
    let stop = Stop::listen()?;
    let languages = crate::settings::languages([plan.task.as_ref()]);
    let scope = format!("replay {}", crate::fleets::unique());
    let bench = runs::bench_for(&plan.config, languages, &scope)?;
    let here = bench.facts_of(plan.task.spec.language);
    for note in notes(&plan, started, &here) {
        complain(&note);
    }
    let mut judging = Judging::over(bench, stop);
    let pace = pace(&mut judging, &plan.task)?;
    let progress = Progress::bar(claims.len() * arguments.times, !arguments.json);
    let judged = judge(
        &mut judging,
        &plan.task,
        &claims,
        arguments.times,
        &progress,
    )?;
    drop(progress);
    let replayed: Vec<Outcome> = claims
        .iter()
        .zip(judged)
        .map(|(claim, judged)| told(claim, &judged, pace, directory))
        .collect();
    if arguments.json {
        for one in &replayed {
            say_json(one);
        }
    } else {
        say(&text(&replayed, pace));
    }
    Ok(if judging.stopped() {
        Status::Interrupted
    } else {
        status(&replayed)
    })
}

/// Some claims are not replayed where the machine failed.
fn status(replayed: &[Outcome]) -> Status {
    if replayed.iter().any(|one| one.failures > 0) {
        Status::MachineFailed
    } else {
        Status::Fine
    }
}

/// What makes a comparison less than exact.
fn notes(
    plan: &Plan,
    started: &hotloop_run::event::RunStarted,
    here: &hotloop_flow::MachineFacts,
) -> Vec<String> {
    let mut notes = Vec::new();
    if started.machine.class != here.class {
        notes.push(format!(
            "the run was judged on another class of machine ({}, {}; here {}, {}), so verdicts \
             compare and speeds do not",
            started.machine.device.name(),
            started.machine.compiler,
            here.device.name(),
            here.compiler
        ));
    }
    if started.task_hash != plan.task.hash {
        notes.push(format!(
            "the task {} has changed since the run; today's decides",
            started.task
        ));
    }
    notes
}

/// The unit of speeds: where a task counts no operations, the seed's time on this machine.
fn pace(judging: &mut Judging, task: &Arc<Task>) -> Result<Pace, Failure> {
    let seed = Candidate::restore(task.spec.language, task.seed.clone());
    let job = Job {
        id: JobId(0),
        task: Arc::clone(task),
        candidate: seed,
        stage: None,
    };
    let judgement = judging.judge_one(job)?.ok_or_else(Failure::interrupted)?;
    let measured = judgement.verdict.correct();
    measured.map(Pace::of_seed).ok_or_else(|| {
        Failure::machine(format!(
            "the seed of {} is {} on this machine: {}",
            task.spec.name,
            judgement.verdict.label(),
            judgement.verdict.detail()
        ))
    })
}

/// The answers to one claim.
#[derive(Default)]
struct Answers {
    judgements: Vec<Judgement>,
    failures: usize,
}

/// Judges all claims `times` times. They take turns, so that a busy spell hits all of them.
fn judge(
    judging: &mut Judging,
    task: &Arc<Task>,
    claims: &[Claim],
    times: usize,
    progress: &Progress,
) -> Result<Vec<Answers>, Failure> {
    let mut answers: Vec<Answers> = claims.iter().map(|_| Answers::default()).collect();
    for _ in 0..times {
        let job = |(at, claim): (u64, &Claim)| Job {
            id: JobId(at),
            task: Arc::clone(task),
            candidate: claim.candidate.clone(),
            stage: claim.stage,
        };
        judging.judge(
            (0..).zip(claims).map(job).collect(),
            progress,
            |JobId(at), came| {
                let answers = &mut answers[at as usize];
                match came {
                    Ok(judgement) => answers.judgements.push(judgement),
                    Err(_) => answers.failures += 1,
                }
            },
        )?;
        if judging.stopped() {
            return Err(Failure::interrupted());
        }
    }
    Ok(answers)
}

fn told(claim: &Claim, judged: &Answers, pace: Pace, directory: &std::path::Path) -> Outcome {
    let mut verdicts = BTreeMap::new();
    for judgement in &judged.judgements {
        *verdicts.entry(judgement.verdict.label()).or_default() += 1;
    }
    let failed = judged
        .judgements
        .iter()
        .map(|judgement| &judgement.verdict)
        .find(|verdict| !verdict.is_correct());
    let hash = claim.candidate.hash().to_owned();
    Outcome {
        file: store::candidate_path(directory, &hash)
            .display()
            .to_string(),
        hash,
        step: claim.step + 1,
        stage: claim.stage.map(hotloop_flow::Stage::number),
        unit: pace.unit(),
        seen: claim.seen,
        confirmed: claim.confirmed,
        replayed: Spread::of(&judged.judgements, pace),
        verdicts,
        why: failed.map(Verdict::detail),
        failures: judged.failures,
    }
}

fn text(replayed: &[Outcome], pace: Pace) -> String {
    let spread = |spread: Option<Spread>| {
        spread.map_or("-".to_owned(), |one| {
            format!(
                "{} [{}, {}]",
                number(one.middle),
                number(one.low),
                number(one.high)
            )
        })
    };
    let mut table = Table::new()
        .left("candidate")
        .right("step")
        .right("stage")
        .right("seen")
        .right("confirmed")
        .right("replayed")
        .left("now");
    for one in replayed {
        table.row([
            one.hash[..12].to_owned(),
            one.step.to_string(),
            one.stage.map_or("-".to_owned(), |stage| stage.to_string()),
            number(one.seen),
            spread(one.confirmed),
            spread(one.replayed),
            now(one),
        ]);
        if let Some(why) = &one.why {
            table.below(why.lines().next().unwrap_or_default());
        }
    }
    let held = replayed.iter().filter(|one| one.replayed.is_some()).count();
    let of = |label: Label| {
        let got = replayed
            .iter()
            .filter(|one| one.verdicts.contains_key(&label));
        got.count()
    };
    format!(
        "{}\n\nSpeeds in {}; brackets hold the slowest and the fastest of the timings.\n{held} of {} \
         correct every time; now suspect: {}, refused: {}",
        table.render(),
        pace.unit(),
        count(replayed.len(), "candidate"),
        of(Label::Suspect),
        of(Label::Refused)
    )
}

/// The verdicts here, most of all those that a claim does not survive.
fn now(one: &Outcome) -> String {
    let all: usize = one.verdicts.values().sum();
    let parts: Vec<String> = one
        .verdicts
        .iter()
        .map(|(label, times)| {
            if *times == all {
                label.name().to_owned()
            } else {
                format!("{label} {times} of {all}")
            }
        })
        .collect();
    if parts.is_empty() {
        "the machine failed".to_owned()
    } else {
        parts.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_that_failed_decides_the_status() {
        let outcome = |failures| Outcome {
            hash: "a".repeat(12),
            file: String::new(),
            step: 1,
            stage: None,
            unit: "GFLOPS",
            seen: 1.0,
            confirmed: None,
            replayed: None,
            verdicts: BTreeMap::new(),
            why: None,
            failures,
        };
        assert_eq!(status(&[outcome(0), outcome(0)]), Status::Fine);
        assert_eq!(status(&[outcome(0), outcome(1)]), Status::MachineFailed);
    }
}
