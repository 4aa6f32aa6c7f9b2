//! Runs in which all answers to a prompt earn the same reward.

use hotloop_run::event::{Event, When};
use hotloop_run::{Ended, Plan, RunState, Store, probe};

use crate::fake::{FakePolicy, Process, WORDS, facts, plan, same, same_facts};

/// The maximum temperature, so that the standstill comes after the fewest steps.
const HOTTEST: &str = "sampling.temperature=1.5";
const LONG: [&str; 4] = [
    "budget.steps=90",
    "prompts.source=fixed",
    "sampling.group=16",
    "loop.probe=2",
];
/// Kinds that the fake policy can write.
const WRONG: usize = 3;
const CORRECT: usize = 7;

fn drive(plan: &Plan, prepare: impl Fn(&mut Process)) -> (Process, RunState) {
    let mut process = Process::new(plan);
    prepare(&mut process);
    let (mut store, lines) = Store::open(&plan.directory).unwrap();
    let (ended, state) = process.drive(plan, &mut store, &lines);
    assert!(matches!(ended, Ended::Done(_)), "{ended:?}");
    (process, state)
}

/// A policy that knows one kind from the beginning.
fn only(kind: usize) -> impl Fn(&mut Process) {
    move |process| process.policy.collapse(kind)
}

fn remedy(state: &RunState) -> &str {
    state
        .steps
        .last()
        .unwrap()
        .warnings
        .last()
        .map_or("", String::as_str)
}

#[test]
fn a_policy_that_collapsed_onto_a_failure_ends_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path(), &LONG);
    let (process, state) = drive(&plan, |process| {
        process.policy.collapse_at = Some((5, WRONG));
    });
    assert_eq!(
        process.policy.updates, 6,
        "the last was of answers that were drawn ahead"
    );
    let why = state.ended.clone().unwrap();
    let last = state
        .steps
        .iter()
        .rposition(|step| step.updated.is_some())
        .unwrap();
    let row = state.steps.len() - 1 - last;
    assert!(
        why.starts_with(&format!(
            "stopped: nothing was learned for {row} steps: no two answers to a prompt earned"
        )),
        "{why}"
    );
    assert!(
        why.contains("(correct 0 %, wrong 100 %, distinct "),
        "{why}"
    );
    assert!((20..70).contains(&row), "{row}");
    assert!(
        state.temperature > 1.45,
        "heat was tried first: {}",
        state.temperature
    );
    assert_eq!(state.stopped, state.ended);
    assert!(
        remedy(&state).contains("a lower learning.rate, or with learning.beta above 0"),
        "{:?}",
        remedy(&state)
    );
    assert!(probe::summary(&state, When::After).is_none() && !state.confirmed.is_empty());
    assert!(matches!(
        facts(&plan.directory).last(),
        Some(Event::RunEnded { .. })
    ));
    assert_eq!(
        hotloop_run::report::Report::read(&[plan.directory])
            .unwrap()
            .runs[0]
            .status,
        why
    );
}

#[test]
fn the_advice_fits_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let told = |name: &str, sets: &[&str], prepare: &dyn Fn(&mut Process)| {
        let sets = [&LONG[..], &[HOTTEST], sets].concat();
        let (_, state) = drive(&plan(&folder.path().join(name), &sets), prepare);
        (state.ended.clone().unwrap(), remedy(&state).to_owned())
    };
    let (why, hint) = told("held", &["learning.beta=0.01"], &|process| {
        process.policy.collapse_at = Some((5, 2));
    });
    assert!(
        why.contains("(correct 0 %, crashed 100 %, distinct "),
        "{why}"
    );
    assert!(hint.contains("or a larger learning.beta"), "{hint}");
    // Nothing was learned, so no update can be at fault.
    let (why, hint) = told("never", &[], &only(0));
    assert!(
        why.ends_with("(correct 0 %, malformed 100 %)"),
        "no candidates, no share of them: {why}"
    );
    assert!(
        hint.contains("warm start") && !hint.contains("learning.rate"),
        "{hint}"
    );
}

#[test]
fn small_groups_wait_for_as_many_answers_as_default_groups() {
    let folder = tempfile::tempdir().unwrap();
    for (group, steps) in [("16", 20), ("64", 20), ("8", 40), ("4", 80)] {
        let set = format!("sampling.group={group}");
        let sets = [&LONG[..], &[HOTTEST, &set]].concat();
        let (_, state) = drive(&plan(&folder.path().join(group), &sets), only(WRONG));
        assert_eq!(state.finished(), steps, "groups of {group}");
    }
}

#[test]
fn groups_from_every_source_count() {
    let folder = tempfile::tempdir().unwrap();
    for (source, per_step) in [("sqd", "1"), ("both", "1"), ("fixed", "3")] {
        let sets = [
            format!("prompts.source={source}"),
            format!("sampling.prompts-per-step={per_step}"),
        ];
        let sets = [&LONG[..], &[HOTTEST, &sets[0], &sets[1]]].concat();
        let (_, state) = drive(&plan(&folder.path().join(source), &sets), only(WRONG));
        assert_eq!(state.finished(), 20, "{source}");
        assert!(
            state
                .ended
                .unwrap()
                .starts_with("stopped: nothing was learned for 20 steps: "),
            "{source}"
        );
    }
}

#[test]
fn a_control_does_not_stop() {
    let folder = tempfile::tempdir().unwrap();
    let sets = [&LONG[..], &[HOTTEST, "learning.rate=0"]].concat();
    let (_, state) = drive(&plan(folder.path(), &sets), only(WRONG));
    assert_eq!(state.ended.as_deref(), Some("all 90 steps are done"));
}

#[test]
fn a_perfect_policy_has_nothing_left_to_learn_and_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path(), &[&LONG[..], &[HOTTEST]].concat());
    let (process, state) = drive(&plan, only(CORRECT));
    let why = state.ended.clone().unwrap();
    assert!(
        why.starts_with(
            "nothing is left to learn: all answers of 20 steps were correct, and no two"
        ),
        "{why}"
    );
    assert!(state.stopped.is_none() && state.enough == state.ended);
    assert!(
        remedy(&state).starts_with("a reward that distinguishes"),
        "{}",
        remedy(&state)
    );
    assert!(
        probe::summary(&state, When::After).is_some(),
        "a sound policy is probed"
    );
    assert_eq!(state.checkpoint, Some(20), "and saved");
    assert_eq!(process.policy.updates, 0);
}

#[test]
fn timings_that_differ_keep_a_perfect_policy_going() {
    let folder = tempfile::tempdir().unwrap();
    for cv in [0.5, 0.01, 0.0] {
        let sets = [&LONG[..], &[HOTTEST]].concat();
        let (_, state) = drive(
            &plan(&folder.path().join(cv.to_string()), &sets),
            |process| {
                process.policy.collapse(CORRECT);
                process.bench.cv = Some(cv);
            },
        );
        assert_eq!(state.finished(), 90, "timings that vary by {cv}");
    }
}

#[test]
fn practised_tasks_that_teach_keep_the_run_going() {
    let folder = tempfile::tempdir().unwrap();
    let sets = [&LONG[..], &[HOTTEST, "task=matmul, transpose"]].concat();
    let spoils: fn(&str, u32) -> bool =
        |source, _| source.contains("speed_") && source.contains("matmul_optimized");
    let lively = |process: &mut Process| {
        process.policy.preferences = (0..WORDS)
            .map(|kind| if kind < 4 { -50.0 } else { 0.0 })
            .collect();
        // Learning is off, so that the practised task does not become as uniform as the other.
        process.policy.rate = 0.0;
        process.bench.spoils = Some(spoils);
    };
    let (process, state) = drive(&plan(&folder.path().join("lively"), &sets), lively);
    assert!(
        state.steps.iter().all(|step| step.watched.live <= 0.0),
        "the run's own groups are dull"
    );
    assert_eq!((state.finished(), process.policy.updates), (90, 90));
    let (_, state) = drive(&plan(&folder.path().join("dull"), &sets), only(WRONG));
    assert_eq!(state.finished(), 20, "both");
}

#[test]
fn an_interrupted_run_keeps_counting() {
    let folder = tempfile::tempdir().unwrap();
    for kind in [WRONG, CORRECT] {
        let sets = [&LONG[..], &[HOTTEST]].concat();
        let prepare = |process: &mut Process| process.policy.collapse_at = Some((5, kind));
        let unbroken = plan(&folder.path().join(format!("unbroken-{kind}")), &sets);
        let (_, expect) = drive(&unbroken, prepare);
        assert!(expect.finished() < 40, "{}", expect.finished());
        let broken = plan(&folder.path().join(format!("broken-{kind}")), &sets);
        let mut pauses = 0;
        let state = loop {
            let mut process = Process::new(&broken);
            prepare(&mut process);
            process.stop_after = Some(60 + pauses % 7);
            let (mut store, lines) = Store::open(&broken.directory).unwrap();
            match process.drive(&broken, &mut store, &lines) {
                (Ended::Done(_), state) => break state,
                (Ended::Paused(_), _) => pauses += 1,
            }
        };
        assert!(pauses > 5, "{pauses}");
        same(state, expect);
        same_facts(&broken.directory, &unbroken.directory);
    }
}

#[test]
fn earlier_checkpoints_are_still_there() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path(), &LONG);
    let (_, state) = drive(&plan, |process| {
        process.policy.collapse_at = Some((5, WRONG));
    });
    let saved = facts(&plan.directory)
        .into_iter()
        .filter_map(|event| match event {
            Event::CheckpointSaved { step } => Some(step),
            _ => None,
        });
    let saved: Vec<u64> = saved.collect();
    let learned = |from: u64, to: u64| {
        state.steps[from as usize..to as usize]
            .iter()
            .any(|step| step.updated.is_some())
    };
    assert!(
        saved.windows(2).all(|pair| learned(pair[0], pair[1])),
        "only where something was learned: {saved:?}"
    );
    let kept = hotloop_run::store::checkpoint_path(folder.path(), saved[saved.len() - 2]);
    let mut before = FakePolicy::new(1.0);
    hotloop_flow::Policy::load(&mut before, &kept).unwrap();
    assert!(before.updates < 5, "{} updates", before.updates);
}
