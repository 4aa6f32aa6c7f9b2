//! The outcomes of the tasks that a run practised.

use std::collections::BTreeMap;

use hotloop_flow::statistics::median;
use hotloop_flow::{Pace, Stage};
use serde::Serialize;

use crate::fared::Fared;
use crate::state::{Group, RunState, Step};

/// A practised task.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Practised {
    /// Its name.
    pub task: String,
    /// The number of answers.
    pub answers: usize,
    /// The first quarter of the groups of each stage.
    pub first: Quarter,
    /// The last quarter of them.
    pub last: Quarter,
    /// The speed-up of the fastest answer over the task's seed.
    pub best: Option<f64>,
}

/// A quarter of a practised task's groups. Numbers are missing if nothing was judged or correct, or
/// if no stage was asked twice.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Quarter {
    /// Share of correct answers.
    pub correct: Option<f64>,
    /// Median speed-up of the correct answers over the task's seed.
    pub speedup: Option<f64>,
}

/// The practised tasks of a run, in the order of their turns.
pub(super) fn of(state: &RunState) -> Vec<Practised> {
    let tasks = state.started.iter().flat_map(|started| &started.practised);
    tasks.map(|practised| one(state, &practised.task)).collect()
}

fn one(state: &RunState, task: &str) -> Practised {
    let groups = state.steps.iter().flat_map(|step| &step.practised);
    let groups: Vec<&Group> = groups
        .filter(|group| group.asked.task.as_deref() == Some(task))
        .collect();
    let fared = |groups: &[&Group]| -> Vec<Fared> {
        groups
            .iter()
            .flat_map(|group| times_seed(state, group))
            .collect()
    };
    let (first, last) = quarters(&groups);
    let of = |groups: &[&Group]| {
        let all = fared(groups);
        let correct = Fared::speeds(&all);
        Quarter {
            correct: (!all.is_empty()).then(|| correct.len() as f64 / all.len() as f64),
            speedup: (!correct.is_empty()).then(|| median(&correct)),
        }
    };
    Practised {
        task: task.to_owned(),
        answers: groups.iter().map(|group| group.members.len()).sum(),
        first: of(&first),
        last: of(&last),
        best: fastest(&fared(&groups)),
    }
}

/// The first and the last quarter of each stage's groups. Stages differ more than the beginning and
/// the end of a run, so both quarters contain the same number of groups of each stage. A stage that
/// was asked once is in neither.
fn quarters<'a>(groups: &[&'a Group]) -> (Vec<&'a Group>, Vec<&'a Group>) {
    let mut stages: BTreeMap<Option<Stage>, Vec<&Group>> = BTreeMap::new();
    for group in groups {
        stages.entry(group.asked.stage).or_default().push(group);
    }
    let (mut first, mut last) = (Vec::new(), Vec::new());
    for stage in stages.values().filter(|stage| stage.len() > 1) {
        let quarter = stage.len().div_ceil(4);
        first.extend(&stage[..quarter]);
        last.extend(&stage[stage.len() - quarter..]);
    }
    (first, last)
}

/// The outcomes of a group's answers, with speed-ups over the task's seed. Masked ones are left
/// out.
fn times_seed(state: &RunState, group: &Group) -> Vec<Fared> {
    let Some(seconds) = state.context_of(group.asked.task.as_deref()).seed_s else {
        return Vec::new();
    };
    let members = group.members.iter();
    let verdicts = members.filter_map(|member| member.verdict.as_ref());
    Fared::all(verdicts, Pace::TimesSeed { seconds })
}

fn fastest(fared: &[Fared]) -> Option<f64> {
    Fared::speeds(fared).into_iter().reduce(f64::max)
}

/// What a step's line says about the practised group.
pub(super) fn step_words(state: &RunState, step: &Step) -> String {
    let words = step.practised.iter().map(|group| {
        let fared = times_seed(state, group);
        let correct = fared.iter().filter(|one| one.is_correct).count();
        let best = fastest(&fared)
            .map(|best| format!(", best {} its seed", times(Some(best))))
            .unwrap_or_default();
        let asked = &group.asked;
        format!(
            "  |  practised {} {}: {correct} of {} correct{best}",
            asked.task.as_deref().unwrap_or_default(),
            asked
                .stage
                .map(|stage| stage.number().to_string())
                .unwrap_or_default(),
            group.members.len()
        )
    });
    words.collect()
}

/// The headings of [`rows`].
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

/// A row for each practised task of each run, with the run's name.
pub(super) fn rows<'a>(
    runs: impl Iterator<Item = (&'a str, &'a [Practised])>,
) -> Vec<[String; HEAD.len()]> {
    let share = |value: Option<f64>| {
        value.map_or("-".to_owned(), |value| format!("{:.0} %", value * 100.0))
    };
    let rows =
        runs.flat_map(|(run, practised)| practised.iter().map(move |practised| (run, practised)));
    rows.map(
        |(
            run,
            Practised {
                task,
                answers,
                first,
                last,
                best,
            },
        )| {
            [
                run.to_owned(),
                task.clone(),
                answers.to_string(),
                share(first.correct),
                share(last.correct),
                times(first.speedup),
                times(last.speedup),
                times(*best),
            ]
        },
    )
    .collect()
}

fn times(speedup: Option<f64>) -> String {
    speedup.map_or("-".to_owned(), |speedup| format!("{speedup:.2} x"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{asked, correct, group, step, wrong};
    use hotloop_flow::bench::{Judgement, Seconds};

    #[test]
    fn both_quarters_have_equally_many_groups_of_each_stage() {
        let task = "transpose";
        let seed = Judgement {
            verdict: correct(1.0),
            seconds: Seconds::default(),
        };
        for groups in 7..50 {
            // A group's outcome depends only on its stage: half of its answers are correct, or
            // none.
            let groups = (0..groups).map(|turn| {
                let stage = hotloop_flow::language::c::stages::SIX
                    [turn % hotloop_flow::language::c::stages::SIX.len()];
                let right = if stage.number() > 3 {
                    correct(f64::from(stage.number()))
                } else {
                    wrong()
                };
                group(asked(Some(task), stage), "a", [wrong(), right])
            });
            let steps = (0..)
                .zip(groups)
                .map(|(number, group)| step(number, vec![group]))
                .collect();
            let mut state = RunState {
                steps,
                ..RunState::default()
            };
            state.practised_seeds.insert(task.to_owned(), seed.clone());
            let practised = one(&state, task);
            assert_eq!(practised.first, practised.last);
            assert!(practised.first.correct.is_some());
        }
    }

    #[test]
    fn a_stage_that_was_asked_once_is_compared_with_nothing() {
        let groups = hotloop_flow::language::c::stages::SIX
            .map(|stage| group(asked(Some("fft"), stage), "a", [correct(1.0)]));
        let (first, last) = quarters(&groups.each_ref());
        assert!(first.is_empty() && last.is_empty());
    }
}
