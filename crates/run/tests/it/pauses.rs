//! Machine failures are masked, or the run waits. The policy never learns from them.

use std::io::ErrorKind;

use hotloop_run::{Ended, Interrupt, Store};

use crate::fake::{Failing, Process, plan, same, same_facts, whole};

#[test]
fn a_failure_is_retried_and_leaves_no_trace() {
    let folder = tempfile::tempdir().unwrap();
    let calm = plan(&folder.path().join("calm"), &[]);
    let rough = plan(&folder.path().join("rough"), &[]);
    let (_, expect) = whole(&calm);
    let mut process = Process::new(&rough);
    // Every third source fails the first two times.
    process.bench.fails = Some(|source, tries| source.len().is_multiple_of(3) && tries <= 2);
    let (mut store, lines) = Store::open(&rough.directory).unwrap();
    let (_, state) = process.drive(&rough, &mut store, &lines);
    same(state, expect);
}

#[test]
fn a_lasting_failure_is_masked_not_punished() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path(), &[]);
    let mut process = Process::new(&plan);
    process.bench.fails = Some(|source, _| source.contains("speed_4"));
    let (mut store, lines) = Store::open(&plan.directory).unwrap();
    let (ended, state) = process.drive(&plan, &mut store, &lines);
    assert!(matches!(ended, Ended::Done(_)), "{ended:?}");
    let masked: Vec<_> = state
        .steps
        .iter()
        .flat_map(hotloop_run::state::Step::members)
        .filter(|member| member.verdict.is_none())
        .collect();
    assert!(!masked.is_empty());
    assert!(
        masked
            .iter()
            .all(|member| member.reward.is_none() && member.advantage.is_none())
    );
}

#[test]
fn a_dead_compiler_pauses_the_run_and_a_repaired_one_lets_it_resume() {
    let folder = tempfile::tempdir().unwrap();
    let calm = plan(&folder.path().join("calm"), &[]);
    let rough = plan(&folder.path().join("rough"), &[]);
    let (_, expect) = whole(&calm);
    let mut process = Process::new(&rough);
    process.bench.dies_after = Some(70);
    let (mut store, lines) = Store::open(&rough.directory).unwrap();
    let (ended, state) = process.drive(&rough, &mut store, &lines);
    let Ended::Paused(interrupt) = ended else {
        panic!("{ended:?}")
    };
    let Interrupt::Storm { failed, of, .. } = &interrupt else {
        panic!("{interrupt}")
    };
    assert!(*failed > 0 && failed <= of, "{interrupt}");
    assert!(
        interrupt
            .to_string()
            .ends_with("the last error: gcc: command not found"),
        "{interrupt}"
    );
    assert_eq!(
        state.paused.as_deref(),
        Some(interrupt.to_string().as_str())
    );
    drop(store);
    let (_, state) = whole(&rough);
    same(state, expect);
    same_facts(&rough.directory, &calm.directory);
}

#[test]
fn a_full_disk_pauses_the_run_with_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    let calm = plan(&folder.path().join("calm"), &[]);
    let full = plan(&folder.path().join("full"), &[]);
    let (_, expect) = whole(&calm);
    let (mut store, lines) = Store::open_with(&full.directory, |sink| {
        Box::new(Failing {
            sink,
            left: 30_000,
            kind: ErrorKind::StorageFull,
        })
    })
    .unwrap();
    let (ended, _) = Process::new(&full).drive(&full, &mut store, &lines);
    let Ended::Paused(interrupt) = ended else {
        panic!("{ended:?}")
    };
    assert_eq!(
        interrupt.hint().as_deref(),
        Some("the disk is full: free some space, then resume"),
        "{interrupt}"
    );
    drop(store);
    let (_, state) = whole(&full);
    same(state, expect);
}

#[test]
fn a_failing_seed_is_reported_before_anything_is_sampled() {
    let folder = tempfile::tempdir().unwrap();
    let mut plan = plan(folder.path(), &[]);
    let mut task = (*plan.task).clone();
    task.seed = task.seed.replace("sum += ", "int wrong = ");
    plan.task = std::sync::Arc::new(task);
    let (mut store, lines) = Store::open(&plan.directory).unwrap();
    let (ended, state) = Process::new(&plan).drive(&plan, &mut store, &lines);
    let Ended::Paused(interrupt) = ended else {
        panic!("{ended:?}")
    };
    assert_eq!(
        interrupt.to_string(),
        "the seed of matmul is wrong on this machine: C[0] is 1, wanted 2"
    );
    assert!(state.open.is_empty());
}

#[test]
fn a_jump_of_the_wall_clock_is_not_elapsed_time() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path(), &["budget.seconds=1e6"]);
    let mut process = Process::new(&plan);
    // Hours pass between any two readings of the clock, as after a sleep, and the run waits for the
    // bench.
    process.wall = |passed| passed * 1e5;
    process.bench.slow = true;
    let (mut store, lines) = Store::open(&plan.directory).unwrap();
    let (ended, state) = process.drive(&plan, &mut store, &lines);
    assert!(matches!(ended, Ended::Done(_)), "{ended:?}");
    assert_eq!(state.finished(), 12);
    assert!(
        state
            .steps
            .iter()
            .all(|step| (0.0..100.0).contains(&step.seconds.wall))
    );
    assert!(
        state.steps[1].at_s - state.steps[0].at_s > 1e5,
        "the journal has the wall's"
    );
}
