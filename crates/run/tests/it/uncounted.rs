//! A task that counts no operations: speeds are multiples of the seed's, and nothing else changes.

use hotloop_flow::{Label, Pace, Reward};
use hotloop_run::event::When;
use hotloop_run::report::page::Paged;
use hotloop_run::report::{csv, text};
use hotloop_run::{RunState, probe};

use crate::fake::{UNCOUNTED, plan, task, whole};

fn run(folder: &std::path::Path, task: &str, reward: Reward) -> RunState {
    let sets = [
        format!("task={task}"),
        format!("reward={{ shape = \"{}\" }}", reward.name()),
        "budget.steps=20".to_owned(),
        "loop.probe=16".to_owned(),
    ];
    let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
    whole(&plan(folder, &sets)).1
}

fn rewards(state: &RunState) -> Vec<Option<f64>> {
    let members = state
        .steps
        .iter()
        .flat_map(hotloop_run::state::Step::members);
    members.map(|member| member.reward).collect()
}

#[test]
fn the_task_counts_no_operations() {
    let counted = task("matmul").unwrap();
    let uncounted = task(&format!("{UNCOUNTED}matmul")).unwrap();
    assert!(counted.counts_operations() && !uncounted.counts_operations());
    for reward in Reward::ALL {
        let needs = reward.needs_seed(&uncounted);
        assert_eq!(needs, reward != Reward::LadderGroup, "{}", reward.name());
    }
    assert!(!Reward::Ladder.needs_seed(&counted));
}

/// The seed of the fake bench takes a second and reaches 1 GFLOPS, so a speed is the same number in
/// both units. The run must learn the same with every reward shape.
#[test]
fn every_shape_of_reward_trains_without_operations() {
    let folder = tempfile::tempdir().unwrap();
    for reward in Reward::ALL {
        let name = reward.name();
        let counted = run(
            &folder.path().join(format!("{name}-counted")),
            "matmul",
            reward,
        );
        let state = run(
            &folder.path().join(name),
            &format!("{UNCOUNTED}matmul"),
            reward,
        );
        assert_eq!(state.pace(), Pace::TimesSeed { seconds: 1.0 }, "{name}");
        assert_eq!(counted.pace(), Pace::Gflops);
        let (earned, expected) = (rewards(&state), rewards(&counted));
        assert_eq!(earned.len(), expected.len(), "{name}");
        for (earned, expected) in earned.iter().zip(&expected) {
            let (earned, expected) = (earned.unwrap(), expected.unwrap());
            assert!(
                (earned - expected).abs() < 1e-9,
                "{name}: {earned} {expected}"
            );
        }
        for when in [When::Before, When::After] {
            let found = probe::summary(&state, when).unwrap();
            let wanted = probe::summary(&counted, when).unwrap();
            assert!(found.correct.value > 0.0, "{name}: {found:?}");
            assert!(
                (found.correct.value - wanted.correct.value).abs() < 1e-12,
                "{name}"
            );
            assert!(
                (found.speed.value - wanted.speed.value).abs() < 1e-9,
                "{name}"
            );
            assert!(
                (found.best.value - wanted.best.value).abs() < 1e-9,
                "{name}"
            );
        }
        let best = state.best.as_ref().unwrap();
        assert!(best.timings > 0 && best.speed > 1.0, "{name}: {best:?}");
        let stages = state.pool.stages();
        assert!(
            stages
                .into_iter()
                .any(|stage| !state.pool.correct(stage).is_empty()),
            "{name}"
        );
    }
}

#[test]
fn reports_give_speeds_as_multiples_of_the_seeds() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("run");
    let state = run(&directory, &format!("{UNCOUNTED}matmul"), Reward::Ladder);
    let paged = Paged::read(&[directory]).unwrap();
    let report = &paged.report;
    let found = &report.runs[0];
    assert_eq!(found.unit, "x seed");
    assert_eq!(found.seed_speed, Some(1.0));
    assert!(found.best.as_ref().unwrap().peak_fraction.is_none());
    assert!(found.totals.verdicts[&Label::Correct] > 0);
    let told = [
        text::table(report),
        text::step_line(&state).unwrap(),
        csv::steps(report),
    ];
    for told in told {
        assert!(told.contains("x seed"), "{told}");
        assert!(!told.contains("GFLOPS"), "{told}");
    }
    assert!(paged.html().contains("\"unit\":\"x seed\""));
}
