//! Practised tasks.

use hotloop_flow::{Role, Stage, Verdict};
use hotloop_run::event::Asked;
use hotloop_run::report::page::Paged;
use hotloop_run::report::{csv, text};
use hotloop_run::state::{Group, Member};
use hotloop_run::{RunState, Store};

use crate::fake::{PRACTISED, Process, facts, plan, whole};

const TASKS: &str = "task=matmul, transpose, softmax";

fn practised(state: &RunState) -> impl Iterator<Item = &Group> {
    state.steps.iter().flat_map(|step| &step.practised)
}

fn correct(group: &Group) -> impl Iterator<Item = (&Member, f64)> {
    group
        .members
        .iter()
        .filter_map(|member| Some((member, member.speed?)))
}

#[test]
fn every_step_practises_one_task_in_turn_and_each_cycles_through_its_stages() {
    let folder = tempfile::tempdir().unwrap();
    for (source, own) in [("sqd", 1), ("fixed", 1), ("both", 2)] {
        let set = format!("prompts.source={source}");
        let (_, state) = whole(&plan(
            &folder.path().join(source),
            &[TASKS, &set, "budget.steps=14"],
        ));
        let turns: Vec<(&str, Option<Stage>)> = practised(&state)
            .map(|group| (group.asked.task.as_deref().unwrap(), group.asked.stage))
            .collect();
        let expect: Vec<(&str, Option<Stage>)> = (0..14)
            .map(|step| {
                (
                    ["transpose", "softmax"][step % 2],
                    Some(hotloop_flow::language::c::stages::SIX[(step / 2) % 6]),
                )
            })
            .collect();
        assert_eq!(turns, expect, "{source}");
        assert!(
            practised(&state)
                .all(|group| group.asked.role == Role::Explore && group.asked.parent.is_none())
        );
        assert!(
            state
                .steps
                .iter()
                .all(|step| step.groups.len() == own && step.practised.len() == 1)
        );
        assert!(
            state
                .steps
                .iter()
                .flat_map(|step| &step.groups)
                .all(|group| group.asked.task.is_none())
        );
        assert!(practised(&state).all(|group| group.members.len() == 8));
    }
}

#[test]
fn rewards_are_measured_against_each_tasks_own_seed() {
    let folder = tempfile::tempdir().unwrap();
    let (_, state) = whole(&plan(folder.path(), &[TASKS]));
    assert_eq!(state.practised_seeds.len(), 2);
    let seed = |task| 1.0 / state.context_of(task).seed_s.unwrap();
    assert!((seed(None) - 1.0).abs() < 1e-9 && (seed(Some("softmax")) - PRACTISED).abs() < 1e-9);
    let mut compared = 0;
    for group in practised(&state) {
        for (member, gflops) in correct(group) {
            let worth = 1.0 + (gflops / PRACTISED).log2();
            assert!(
                (member.reward.unwrap() - worth).abs() < 1e-9,
                "{gflops} GFLOPS earn {:?}",
                member.reward
            );
            compared += 1;
        }
    }
    assert!(compared > 10, "{compared} are no test");
}

#[test]
fn practised_candidates_only_affect_learning() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path(), &[TASKS, "budget.steps=20"]);
    let (process, state) = whole(&plan);
    assert!(
        practised(&state)
            .flat_map(correct)
            .all(|(_, gflops)| gflops >= PRACTISED * (1.0 - 1e-12))
    );
    assert!(
        state.best.as_ref().unwrap().speed < PRACTISED,
        "the best is of the run's own task"
    );
    let pooled = state
        .pool
        .stages()
        .flat_map(|stage| state.pool.correct(stage));
    assert!(
        pooled
            .into_iter()
            .all(|node| node.speed.unwrap() < PRACTISED)
    );
    let hash = practised(&state)
        .flat_map(correct)
        .find_map(|(member, _)| member.hash.clone())
        .unwrap();
    let again = Asked {
        task: None,
        role: Role::Explore,
        stage: None,
        parent: Some(hash.clone()),
        variant: 0,
        beside: Vec::new(),
    };
    assert!(state.verdict(&again, state.finished()).is_none());
    assert!(state.birth(&hash).is_none());
    assert!(!state.confirmed.is_empty() && !state.confirmed.contains_key(&hash));
    // Both groups of a step are in its update.
    let taught: Vec<usize> = facts(&plan.directory)
        .iter()
        .filter_map(|event| match event {
            hotloop_run::Event::StepFinished(finished) if finished.updated.is_some() => Some(
                finished
                    .groups
                    .iter()
                    .flat_map(|group| &group.advantages)
                    .flatten()
                    .count(),
            ),
            _ => None,
        })
        .collect();
    assert_eq!(process.policy.updates as usize, taught.len());
    assert!(taught.iter().any(|answers| *answers > 8), "{taught:?}");
}

#[test]
fn the_runs_own_answers_are_the_same_up_to_the_first_update() {
    let folder = tempfile::tempdir().unwrap();
    let (_, alone) = whole(&plan(&folder.path().join("alone"), &["loop.overlap=false"]));
    let (_, beside) = whole(&plan(
        &folder.path().join("beside"),
        &[TASKS, "loop.overlap=false"],
    ));
    assert_eq!(alone.steps[0].groups, beside.steps[0].groups);
    assert_eq!(
        alone.steps[0].watched, beside.steps[0].watched,
        "only the run's own are watched"
    );
}

#[test]
fn steps_overlap_where_the_runs_own_prompts_are_known() {
    let folder = tempfile::tempdir().unwrap();
    let (_, state) = whole(&plan(folder.path(), &[TASKS, "prompts.source=fixed"]));
    let lags: Vec<u64> = state.steps.iter().map(|step| step.lag).collect();
    assert_eq!(lags[..3], [0, 1, 1]);
}

#[test]
fn a_failing_practised_seed_is_reported_before_anything_is_sampled() {
    let folder = tempfile::tempdir().unwrap();
    let mut plan = plan(folder.path(), &[TASKS]);
    let mut task = (*plan.practised[1]).clone();
    task.seed = task.seed.replacen('{', "{ int wrong = 1;", 1);
    plan.practised[1] = std::sync::Arc::new(task);
    let (mut store, lines) = Store::open(&plan.directory).unwrap();
    let (ended, state) = Process::new(&plan).drive(&plan, &mut store, &lines);
    let hotloop_run::Ended::Paused(interrupt) = ended else {
        panic!("{ended:?}")
    };
    assert_eq!(
        interrupt.to_string(),
        "the seed of softmax is wrong on this machine: C[0] is 1, wanted 2"
    );
    assert!(state.open.is_empty() && state.practised_seeds.contains_key("transpose"));
}

#[test]
fn a_report_lists_practised_tasks_separately() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("run");
    let (_, state) = whole(&plan(&directory, &[TASKS, "budget.steps=24"]));
    let paged = Paged::read(std::slice::from_ref(&directory)).unwrap();
    let report = &paged.report;
    let run = &report.runs[0];
    let own = state
        .steps
        .iter()
        .flat_map(hotloop_run::state::Step::members);
    let right = own
        .filter(|member| matches!(member.verdict, Some(Verdict::Correct(_))))
        .count();
    assert_eq!(run.totals.verdicts[&hotloop_flow::Label::Correct], right);
    assert_eq!((run.task.as_str(), run.totals.answers), ("matmul", 24 * 8));
    let fastest = run
        .points
        .iter()
        .filter_map(|point| point.max_speed)
        .fold(0.0, f64::max);
    assert!(fastest < PRACTISED, "{fastest}");
    let names: Vec<(&str, usize)> = run
        .practised
        .iter()
        .map(|task| (task.task.as_str(), task.answers))
        .collect();
    assert_eq!(names, [("transpose", 12 * 8), ("softmax", 12 * 8)]);
    for task in &run.practised {
        assert!(task.best.unwrap() >= task.last.speedup.unwrap() && task.best.unwrap() < PRACTISED);
        assert!((0.0..=1.0).contains(&task.first.correct.unwrap()));
    }
    assert!(
        paged.html().contains("\"transpose\",\"96\"")
            && text::table(report).contains("median speed-up, last quarter")
    );
    assert!(
        serde_json::to_string(&report)
            .unwrap()
            .contains("\"practised\"")
    );
    assert_eq!(csv::steps(report).lines().count(), 1 + 24);
    let line = text::step_line(&state).unwrap();
    assert!(
        line.contains("practised softmax 6: ") && !line.contains('\n'),
        "{line}"
    );
}
