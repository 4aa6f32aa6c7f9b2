//! The switches of the search.

use std::collections::BTreeSet;

use hotloop_flow::{Role, Stage};
use hotloop_run::RunState;

use crate::fake::{plan, whole};

fn run(sets: &[&str]) -> RunState {
    let folder = tempfile::tempdir().unwrap();
    let sets = [
        &[
            "budget.steps=0",
            "budget.iterations=5",
            "loop.probe=0",
            "sampling.group=16",
        ],
        sets,
    ]
    .concat();
    whole(&plan(folder.path(), &sets)).1
}

fn roles(state: &RunState) -> BTreeSet<Role> {
    state
        .iterations
        .iter()
        .flat_map(|iteration| &iteration.parents)
        .map(|parent| parent.role)
        .collect()
}

fn stages(state: &RunState) -> BTreeSet<Stage> {
    state
        .iterations
        .iter()
        .flat_map(|iteration| &iteration.parents)
        .map(|parent| parent.stage)
        .collect()
}

#[test]
fn the_full_search_has_all_roles_and_goes_deep() {
    let state = run(&[]);
    assert_eq!(roles(&state), BTreeSet::from(Role::ALL));
    let deepest = |at: usize| {
        state.iterations[at]
            .parents
            .iter()
            .map(|parent| parent.stage.number())
            .max()
            .unwrap()
    };
    assert_eq!(
        (0..5).map(deepest).collect::<Vec<_>>(),
        [1, 2, 3, 4, 5],
        "one stage deeper each time"
    );
    assert!(
        state
            .iterations
            .iter()
            .all(|iteration| iteration.parents[0].hash.is_none()),
        "the seed is always in"
    );
    assert!(
        state
            .iterations
            .iter()
            .skip(1)
            .all(|iteration| iteration.parents.len() == 8)
    );
}

#[test]
fn without_stages_everything_is_allowed_at_once() {
    assert_eq!(
        stages(&run(&["search.stages=false"])),
        BTreeSet::from([hotloop_flow::language::c::stages::ALL])
    );
}

#[test]
fn without_repair_failures_are_left_alone() {
    let state = run(&["search.repair=false"]);
    assert_eq!(
        roles(&state),
        BTreeSet::from([Role::Explore, Role::Deepen, Role::Improve])
    );
}

#[test]
fn without_deepening_the_search_stays_at_its_first_stage() {
    assert_eq!(
        stages(&run(&["search.deepening=false"])),
        BTreeSet::from([hotloop_flow::language::c::stages::REGISTER_BLOCKING])
    );
}

#[test]
fn elites_stay_in_the_pool_that_is_otherwise_reset() {
    let born_before_last = |state: &RunState| {
        let last = state.iterations.last().unwrap();
        let from = state.iterations[state.iterations.len() - 2].first_step;
        last.parents
            .iter()
            .filter_map(|parent| state.birth(parent.hash.as_deref()?))
            .any(|(step, ..)| step.number < from)
    };
    // A fast candidate from an early iteration survives only with elites.
    let kept = run(&["search.elites=4", "learning.rate=0"]);
    assert!(born_before_last(&kept));
    let reset = run(&["learning.rate=0"]);
    let hashes = |state: &RunState, at: usize| -> BTreeSet<Option<String>> {
        let first = state.iterations[at - 1].first_step;
        let end = state.iterations[at].first_step;
        let steps = state
            .steps
            .iter()
            .filter(|step| (first..end).contains(&step.number));
        steps
            .flat_map(|step| step.members().map(|member| member.hash.clone()))
            .collect()
    };
    for at in 1..reset.iterations.len() {
        let made = hashes(&reset, at);
        assert!(
            reset.iterations[at]
                .parents
                .iter()
                .skip(1)
                .all(|parent| made.contains(&parent.hash))
        );
    }
}
