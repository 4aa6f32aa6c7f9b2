//! What came of the tasks that a run practised beside its own.

use flow::statistics::median;
use serde::Serialize;

use super::Report;
use crate::probe::speed;
use crate::state::{Group, RunState, Step};

/// A practised task.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Practised {
    /// Its name.
    pub task: String,
    /// Answers that were asked for.
    pub answers: usize,
    /// The first quarter of the steps that asked it.
    pub first: Quarter,
    /// The last quarter of them.
    pub last: Quarter,
    /// The fastest answer, in times of the task's seed.
    pub best: Option<f64>,
}

/// A quarter of a practised task's steps; numbers are missing where nothing was judged or nothing was correct.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Quarter {
    /// Share of correct answers.
    pub correct: Option<f64>,
    /// Median speed of the correct ones, in times of the task's seed.
    pub speedup: Option<f64>,
}

/// The practised tasks of a run, in their turn.
pub(super) fn of(state: &RunState) -> Vec<Practised> {
    let tasks = state.started.iter().flat_map(|started| &started.practised);
    tasks.map(|practised| one(state, &practised.task)).collect()
}

fn one(state: &RunState, task: &str) -> Practised {
    let groups = state.steps.iter().flat_map(|step| &step.practised);
    let groups: Vec<&Group> = groups.filter(|group| group.asked.task.as_deref() == Some(task)).collect();
    let speedups = |groups: &[&Group]| -> Vec<f64> { groups.iter().flat_map(|group| speedups(state, group)).collect() };
    let quarter = groups.len().div_ceil(4);
    let of = |groups: &[&Group]| {
        let all = speedups(groups);
        let correct: Vec<f64> = all.iter().copied().filter(|speedup| *speedup > 0.0).collect();
        Quarter {
            correct: (!all.is_empty()).then(|| correct.len() as f64 / all.len() as f64),
            speedup: (!correct.is_empty()).then(|| median(&correct)),
        }
    };
    Practised {
        task: task.to_owned(),
        answers: groups.iter().map(|group| group.members.len()).sum(),
        first: of(&groups[..quarter]),
        last: of(&groups[groups.len() - quarter..]),
        best: fastest(&speedups(&groups)),
    }
}

/// In times of the seed of the group's task, 0 for failures; what is masked is left out.
fn speedups(state: &RunState, group: &Group) -> Vec<f64> {
    let seed = state.context_of(group.asked.task.as_deref()).seed_gflops;
    let verdicts = group.members.iter().filter_map(|member| member.verdict.as_ref());
    verdicts.filter_map(|verdict| Some(speed(verdict)? / seed?)).collect()
}

fn fastest(speedups: &[f64]) -> Option<f64> {
    speedups.iter().copied().filter(|speedup| *speedup > 0.0).reduce(f64::max)
}

/// What a step's line says of the practised group.
pub(super) fn step_words(state: &RunState, step: &Step) -> String {
    let words = step.practised.iter().map(|group| {
        let speedups = speedups(state, group);
        let correct = speedups.iter().filter(|speedup| **speedup > 0.0).count();
        let best = fastest(&speedups).map(|best| format!(", best {} its seed", times(Some(best)))).unwrap_or_default();
        let asked = &group.asked;
        format!(
            "  |  practised {} {}: {correct} of {} correct{best}",
            asked.task.as_deref().unwrap_or_default(),
            asked.stage.map(|stage| stage.number().to_string()).unwrap_or_default(),
            group.members.len()
        )
    });
    words.collect()
}

/// Names of what [`rows`] tell.
pub(super) const HEAD: [&str; 8] = [
    "run",
    "practised",
    "answers",
    "correct, first quarter",
    "correct, last quarter",
    "median speed-up, first quarter",
    "median speed-up, last quarter",
    "best speed-up",
];

/// A line for each practised task of each run.
pub(super) fn rows(report: &Report) -> Vec<[String; HEAD.len()]> {
    let share = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{:.0} %", value * 100.0));
    let rows = report.runs.iter().flat_map(|run| run.practised.iter().map(move |practised| (run, practised)));
    rows.map(|(run, Practised { task, answers, first, last, best })| {
        [
            run.name.clone(),
            task.clone(),
            answers.to_string(),
            share(first.correct),
            share(last.correct),
            times(first.speedup),
            times(last.speedup),
            times(*best),
        ]
    })
    .collect()
}

fn times(speedup: Option<f64>) -> String {
    speedup.map_or("-".to_owned(), |speedup| format!("{speedup:.2} x"))
}
