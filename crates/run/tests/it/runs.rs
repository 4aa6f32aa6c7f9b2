//! Runs from beginning to end.

use hotloop_flow::advantage::Fate;
use hotloop_run::event::{Event, When};
use hotloop_run::{Ended, Store, probe};

use crate::fake::{Process, facts, plan, same, whole};

fn speed(state: &hotloop_run::RunState, when: When) -> f64 {
    probe::summary(state, when).unwrap().speed.value
}

#[test]
fn a_run_learns_and_its_control_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let sets = ["budget.steps=60", "loop.probe=64"];
    let (process, state) = whole(&plan(&folder.path().join("learns"), &sets));
    assert_eq!(state.finished(), 60);
    assert!(
        process.policy.updates > 20,
        "{} updates",
        process.policy.updates
    );
    assert!(
        speed(&state, When::After) > 2.0 * speed(&state, When::Before),
        "the probe tells of learning"
    );
    let (before, after) = (
        probe::summary(&state, When::Before).unwrap(),
        probe::summary(&state, When::After).unwrap(),
    );
    assert!(
        after.speed.low > before.speed.high,
        "the intervals are apart"
    );
    let control = whole(&plan(
        &folder.path().join("control"),
        &[&sets[..], &["learning.rate=0"]].concat(),
    ));
    assert_eq!(control.0.policy.updates, 0);
    let (before, after) = (
        speed(&control.1, When::Before),
        speed(&control.1, When::After),
    );
    assert!(
        (before - after).abs() < 1e-12,
        "same policy, same seeds: {before} {after}"
    );
    assert!(control.1.steps.iter().all(|step| step.updated.is_none()));
}

#[test]
fn the_same_seed_gives_the_same_events_and_another_does_not() {
    let folder = tempfile::tempdir().unwrap();
    for source in ["sqd", "fixed", "both"] {
        let source = format!("prompts.source={source}");
        let run = |name: &str, seed: &str| {
            let directory = folder.path().join(name);
            whole(&plan(&directory, &[&source, seed]));
            let events = facts(&directory);
            fs_err::remove_dir_all(&directory).unwrap();
            events
        };
        let first = run("a", "seed=5");
        assert_eq!(first, run("b", "seed=5"));
        assert_ne!(first, run("c", "seed=6"));
    }
}

#[test]
fn fixed_prompts_take_turns_and_groups_share_a_step() {
    let folder = tempfile::tempdir().unwrap();
    let sets = [
        "prompts.source=fixed",
        "sampling.prompts-per-step=3",
        "budget.steps=4",
    ];
    let (_, state) = whole(&plan(folder.path(), &sets));
    let variants: Vec<usize> = state
        .steps
        .iter()
        .flat_map(|step| step.groups.iter().map(|group| group.asked.variant))
        .collect();
    assert_eq!(variants, (0..12).collect::<Vec<_>>());
    assert!(
        state
            .steps
            .iter()
            .flat_map(|step| &step.groups)
            .all(|group| group.asked.stage.is_none())
    );
}

#[test]
fn both_sources_have_a_group_in_every_step() {
    let folder = tempfile::tempdir().unwrap();
    let (_, state) = whole(&plan(folder.path(), &["prompts.source=both"]));
    for step in &state.steps {
        let stages: Vec<bool> = step
            .groups
            .iter()
            .map(|group| group.asked.stage.is_some())
            .collect();
        assert_eq!(stages, [true, false], "the search's first");
        assert_eq!(step.groups[1].asked.variant as u64, step.number);
    }
    assert!(state.iterations.len() > 1);
}

#[test]
fn overlap_lags_by_one_except_where_parents_wait_for_verdicts() {
    let folder = tempfile::tempdir().unwrap();
    let (_, strict) = whole(&plan(
        &folder.path().join("strict"),
        &["loop.overlap=false"],
    ));
    assert!(strict.steps.iter().all(|step| step.lag == 0));
    let (_, fixed) = whole(&plan(
        &folder.path().join("fixed"),
        &["prompts.source=fixed"],
    ));
    let lags: Vec<u64> = fixed.steps.iter().map(|step| step.lag).collect();
    assert_eq!(lags[..3], [0, 1, 1]);
    let (_, searched) = whole(&plan(
        &folder.path().join("searched"),
        &["sampling.group=16"],
    ));
    let firsts: Vec<u64> = searched
        .iterations
        .iter()
        .map(|iteration| iteration.first_step)
        .collect();
    assert_eq!(firsts[..3], [0, 1, 9], "the seed alone, then eight parents");
    for step in &searched.steps {
        assert_eq!(
            step.lag,
            u64::from(!firsts.contains(&step.number)),
            "step {}",
            step.number
        );
    }
}

#[test]
fn the_budget_ends_a_run_by_seconds_and_by_iterations() {
    let folder = tempfile::tempdir().unwrap();
    let (_, seconds) = whole(&plan(
        &folder.path().join("s"),
        &["budget.steps=0", "budget.seconds=30"],
    ));
    assert!(seconds.stepping_s() >= 30.0 && seconds.ended.unwrap().contains("s of stepping"));
    let (_, iterations) = whole(&plan(
        &folder.path().join("i"),
        &["budget.steps=0", "budget.iterations=3", "sampling.group=16"],
    ));
    assert_eq!(
        (iterations.iterations.len(), iterations.finished()),
        (3, 17)
    );
    assert_eq!(iterations.ended.as_deref(), Some("all iterations are done"));
}

#[test]
fn a_finished_run_stays_finished() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path(), &[]);
    let (_, state) = whole(&plan);
    let before = facts(&plan.directory);
    let (_, again) = whole(&plan);
    same(again, state);
    assert_eq!(facts(&plan.directory), before);
}

#[test]
fn a_policy_that_breaks_ends_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path(), &[]);
    let mut process = Process::new(&plan);
    process.policy.break_at = Some(5);
    let (mut store, lines) = Store::open(&plan.directory).unwrap();
    let (_, state) = process.drive(&plan, &mut store, &lines);
    assert_eq!(
        state.ended.as_deref(),
        Some("stopped: the update contains NaN or infinity")
    );
    assert_eq!(state.checkpoint, Some(3), "the broken policy is not saved");
    assert!(probe::summary(&state, When::After).is_none());
    // The journal can be read.
    assert!(matches!(
        facts(&plan.directory).last(),
        Some(Event::RunEnded { .. })
    ));
}

#[test]
fn a_policy_that_diverges_in_an_update_ends_the_run_with_what_it_found() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path(), &[]);
    let mut process = Process::new(&plan);
    process.policy.diverge_at = Some(5);
    let (mut store, lines) = Store::open(&plan.directory).unwrap();
    let (ended, state) = process.drive(&plan, &mut store, &lines);
    assert!(
        matches!(ended, Ended::Done(_)),
        "a run that waits would meet the same batch for ever: {ended:?}"
    );
    assert_eq!(
        state.ended.as_deref(),
        Some("stopped: the loss is not finite")
    );
    assert!(state.steps.last().unwrap().updated.is_none() && state.stopped == state.ended);
    assert_eq!(state.checkpoint, Some(3), "the broken policy is not saved");
    assert_eq!(
        state.best.unwrap().timings,
        5,
        "what it found before is timed again"
    );
    assert!(probe::summary(&state_of(&plan), When::After).is_none());
}

#[test]
fn a_policy_without_answers_ends_the_run_with_the_verdicts_of_the_last_ones() {
    let folder = tempfile::tempdir().unwrap();
    for overlap in ["loop.overlap=true", "loop.overlap=false"] {
        let plan = plan(&folder.path().join(overlap), &[overlap]);
        let mut process = Process::new(&plan);
        process.policy.sampling_diverges_at = Some(4);
        let (mut store, lines) = Store::open(&plan.directory).unwrap();
        let (ended, state) = process.drive(&plan, &mut store, &lines);
        assert!(matches!(ended, Ended::Done(_)), "{ended:?}");
        assert_eq!(
            state.ended.as_deref(),
            Some("stopped: the logits are not finite")
        );
        assert!(state.open.is_empty(), "all that was sampled was judged");
        assert!(!state.confirmed.is_empty());
    }
}

#[test]
fn a_policy_without_answers_at_the_last_probe_ends_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path(), &["budget.steps=4", "loop.overlap=false"]);
    let mut process = Process::new(&plan);
    process.policy.sampling_diverges_at = Some(4);
    let (mut store, lines) = Store::open(&plan.directory).unwrap();
    let (_, state) = process.drive(&plan, &mut store, &lines);
    assert_eq!(
        (state.finished(), state.ended.as_deref()),
        (4, Some("stopped: the logits are not finite"))
    );
}

fn state_of(plan: &hotloop_run::Plan) -> hotloop_run::RunState {
    hotloop_run::RunState::read(&plan.directory).unwrap()
}

#[test]
fn dead_groups_are_counted_and_raise_the_temperature() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path(), &["budget.steps=20", "prompts.source=fixed"]);
    let mut process = Process::new(&plan);
    // A policy that has collapsed onto one kind: all rewards are equal.
    process.policy.collapse(7);
    let (mut store, lines) = Store::open(&plan.directory).unwrap();
    let (_, state) = process.drive(&plan, &mut store, &lines);
    let groups = || state.steps.iter().flat_map(|step| &step.groups);
    assert!(groups().all(|group| group.fate == Fate::Dead));
    assert_eq!(process.policy.updates, 0, "nothing to learn from");
    let warnings: Vec<&String> = state.steps.iter().flat_map(|step| &step.warnings).collect();
    assert_eq!(
        warnings[0],
        "only 0 % of the groups are live: the temperature rises to 1.10"
    );
    assert_eq!(
        state
            .steps
            .iter()
            .position(|step| !step.warnings.is_empty()),
        Some(7),
        "after a window of 8"
    );
    assert!(
        (1.15..1.25).contains(&state.temperature),
        "raised twice in 20 steps: {}",
        state.temperature
    );
}

#[test]
fn a_lasting_warning_is_given_at_first_and_every_twenty_steps() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(
        folder.path(),
        &[
            "budget.steps=90",
            "prompts.source=fixed",
            "loop.probe=0",
            "learning.rate=0",
        ],
    );
    let mut process = Process::new(&plan);
    process.policy.collapse(3);
    let (mut store, lines) = Store::open(&plan.directory).unwrap();
    let (_, state) = process.drive(&plan, &mut store, &lines);
    let told = |words: &str| -> Vec<u64> {
        let told = state
            .steps
            .iter()
            .filter(|step| step.warnings.iter().any(|warning| warning.contains(words)));
        told.map(|step| step.number).collect()
    };
    assert_eq!(told("the temperature rises to").len(), 5, "each is news");
    let limits = told("0 % of the groups are live, and the temperature is at its limit");
    let begins = limits[0];
    assert!(begins < 60, "{begins}");
    assert_eq!(limits, (begins..90).step_by(20).collect::<Vec<_>>());
}

#[test]
fn drowned_groups_raise_the_temperature_only_on_a_quiet_machine() {
    let folder = tempfile::tempdir().unwrap();
    for (cv, heats) in [(0.5, false), (0.01, true)] {
        let plan = plan(
            &folder.path().join(cv.to_string()),
            &["budget.steps=12", "prompts.source=fixed"],
        );
        let mut process = Process::new(&plan);
        process.policy.collapse(7);
        process.bench.cv = Some(cv);
        let (mut store, lines) = Store::open(&plan.directory).unwrap();
        let (_, state) = process.drive(&plan, &mut store, &lines);
        let groups = || state.steps.iter().flat_map(|step| &step.groups);
        assert!(groups().all(|group| group.fate == Fate::Drowned));
        let hotter = state.temperature > 1.05;
        assert_eq!(
            hotter, heats,
            "timings that vary by {cv}: {}",
            state.temperature
        );
    }
}

#[test]
fn the_best_is_chosen_by_fresh_timings() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path(), &["loop.probe=0"]);
    let mut process = Process::new(&plan);
    // The first timing of each kernel with an odd form is twice too fast.
    process.bench.lucky = Some(|source, tries| tries == 1 && source.len() % 2 == 1);
    let (mut store, lines) = Store::open(&plan.directory).unwrap();
    let (_, state) = process.drive(&plan, &mut store, &lines);
    let best = state.best.unwrap();
    assert_eq!(state.confirmed.len(), 3);
    assert_eq!(state.confirmed[&best.hash].len(), 5);
    let first = state
        .steps
        .iter()
        .flat_map(hotloop_run::state::Step::members)
        .filter_map(|member| member.speed);
    assert!(best.speed < first.fold(0.0, f64::max), "luck does not last");
}

#[test]
fn the_fastest_are_timed_until_it_is_quiet_unless_the_papers_estimator_decides() {
    let folder = tempfile::tempdir().unwrap();
    for (timing, times) in [("gated", 25), ("paper", 5)] {
        let sets = ["loop.probe=0", &format!("bench.timing={timing}")];
        let plan = plan(&folder.path().join(timing), &sets);
        let mut process = Process::new(&plan);
        process.bench.cv = Some(0.5);
        let (mut store, lines) = Store::open(&plan.directory).unwrap();
        let (_, state) = process.drive(&plan, &mut store, &lines);
        assert_eq!(
            state.confirmed.values().map(Vec::len).collect::<Vec<_>>(),
            [times; 3],
            "{timing}"
        );
    }
}

#[test]
fn a_disproved_candidate_is_not_the_best() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path(), &["loop.probe=0"]);
    let mut process = Process::new(&plan);
    // The fastest kinds have a data race: they are correct at first and wrong later.
    process.bench.spoils = Some(|source, tries| {
        tries > 1 && (source.contains("speed_1") || source.contains("speed_9"))
    });
    let (mut store, lines) = Store::open(&plan.directory).unwrap();
    let (_, state) = process.drive(&plan, &mut store, &lines);
    let disproved = state
        .confirmed
        .values()
        .filter(|fresh| fresh.iter().any(|one| one.verdict.measured().is_none()));
    assert!(
        disproved.count() > 3,
        "more than those that looked best first: {}",
        state.confirmed.len()
    );
    let best = state.best.unwrap();
    assert_eq!(best.timings, 5);
    assert!(
        state.confirmed[&best.hash]
            .iter()
            .all(|one| one.verdict.measured().is_some())
    );
}

#[test]
fn a_policy_that_cannot_learn_is_not_asked_to() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path(), &[]);
    let mut process = Process::new(&plan);
    process.policy.learns = false;
    let (mut store, lines) = Store::open(&plan.directory).unwrap();
    let (ended, _) = process.drive(&plan, &mut store, &lines);
    let hotloop_run::Ended::Paused(interrupt) = ended else {
        panic!("{ended:?}")
    };
    assert_eq!(interrupt.to_string(), "fake cannot learn");
    assert_eq!(
        interrupt.hint().as_deref(),
        Some("set learning.rate to 0 to search with it")
    );
}

#[test]
fn a_divergence_that_jumps_ends_the_run_and_one_that_grows_slowly_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let leaps: fn(u64) -> Option<f64> = |at| Some(if at < 6 { 0.1 } else { 5.0 });
    for (name, kl, ends) in [
        ("leaps", leaps, true),
        ("walks", |at| Some(at as f64), false),
        ("unseen", |_| None, false),
    ] {
        let plan = plan(&folder.path().join(name), &["loop.probe=0"]);
        let mut process = Process::new(&plan);
        process.policy.kl = kl;
        let (mut store, lines) = Store::open(&plan.directory).unwrap();
        let (_, state) = process.drive(&plan, &mut store, &lines);
        assert_eq!(
            state
                .ended
                .unwrap()
                .starts_with("stopped: the KL divergence"),
            ends,
            "{name}"
        );
        assert!(
            !state.confirmed.is_empty(),
            "{name}: the best is timed again however the run ended"
        );
    }
}

#[test]
fn a_sampler_that_differs_from_the_trainer_causes_one_warning() {
    let folder = tempfile::tempdir().unwrap();
    for (gap, overlap, warned) in [
        (0.05, false, true),
        (0.05, true, true),
        (0.01, false, false),
    ] {
        let set = format!("loop.overlap={overlap}");
        let plan = plan(
            &folder.path().join(format!("{gap}-{overlap}")),
            &["loop.probe=0", &set],
        );
        let mut process = Process::new(&plan);
        process.policy.gap = gap;
        let (mut store, lines) = Store::open(&plan.directory).unwrap();
        let (_, state) = process.drive(&plan, &mut store, &lines);
        let told: Vec<&hotloop_run::state::Step> = state
            .steps
            .iter()
            .filter(|step| {
                step.warnings
                    .iter()
                    .any(|warning| warning.contains("sampler"))
            })
            .collect();
        assert_eq!(told.len(), usize::from(warned), "a gap of {gap}");
        assert!(
            told.iter()
                .all(|step| step.lag == 0 && step.warnings[0].contains("0.050"))
        );
    }
}

#[test]
fn a_reward_that_cannot_be_measured_here_is_reported_first() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path(), &["reward={ shape = \"sol\" }"]);
    let mut process = Process::new(&plan);
    process.bench.bare = true;
    let (mut store, lines) = Store::open(&plan.directory).unwrap();
    let (ended, state) = process.drive(&plan, &mut store, &lines);
    let hotloop_run::Ended::Paused(interrupt) = ended else {
        panic!("{ended:?}")
    };
    assert!(
        interrupt
            .to_string()
            .starts_with("reward `sol` needs the roof's seconds"),
        "{interrupt}"
    );
    assert!(state.open.is_empty() && state.probes.is_empty());
}

#[test]
fn without_a_library_the_seed_is_the_baseline() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(folder.path(), &["reward={ shape = \"composite\" }"]);
    let mut process = Process::new(&plan);
    process.bench.bare = true;
    let (mut store, lines) = Store::open(&plan.directory).unwrap();
    let (_, state) = process.drive(&plan, &mut store, &lines);
    let context = state.context();
    assert_eq!(context.baseline_s, context.seed_s);
    assert!(state.finished() > 0 && context.seed_s.is_some());
}
