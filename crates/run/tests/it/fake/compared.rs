//! Runs compared by what their journals say.

use std::path::Path;

use hotloop_run::{Event, RunState};

/// What two runs must have in common: everything but clocks and interruptions.
fn timeless(mut state: RunState) -> RunState {
    state.started_s = 0.0;
    state.resumed = 0;
    state.paused = None;
    for step in &mut state.steps {
        step.seconds = hotloop_run::event::StepSeconds::default();
        step.at_s = 0.0;
    }
    state
}

/// The events of a run directory that any process would have written.
pub(crate) fn facts(directory: &Path) -> Vec<Event> {
    let lines = hotloop_run::journal::read(&hotloop_run::store::journal_path(directory)).unwrap();
    lines
        .into_iter()
        .map(|line| crate::timeless::event(line.event))
        .filter(|event| !crate::timeless::is_interruption(event))
        .collect()
}

/// Asserts that two states are equal, without printing all of them.
pub(crate) fn same(got: RunState, want: RunState) {
    let (got, want) = (timeless(got), timeless(want));
    if got != want {
        let (got, want) = (format!("{got:#?}"), format!("{want:#?}"));
        let differ = got
            .lines()
            .zip(want.lines())
            .enumerate()
            .find(|(_, (got, want))| got != want);
        panic!("the states differ, first here: {differ:?}");
    }
}

/// Asserts that two journals hold the same facts.
pub(crate) fn same_facts(got: &Path, want: &Path) {
    let (got, want) = (facts(got), facts(want));
    assert_eq!(got.len(), want.len());
    for (at, (got, want)) in got.iter().zip(&want).enumerate() {
        assert_eq!(got, want, "event {at}");
    }
}
