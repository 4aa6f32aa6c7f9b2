//! What searches for one fast program do beyond plain training.

use hotloop_flow::search::ArchiveKind;
use hotloop_flow::{Bench as _, Prose};
use hotloop_run::event::Event;
use hotloop_run::{RunState, winners};

use crate::fake::{plan, whole};

#[test]
fn judged_answers_end_a_run_at_the_step_that_reaches_them() {
    let folder = tempfile::tempdir().unwrap();
    let sets = ["budget.steps=0", "budget.answers=50"];
    let (_, state) = whole(&plan(folder.path(), &sets));
    assert_eq!(
        (state.judged_answers(), state.finished()),
        (56, 7),
        "groups of eight"
    );
    assert_eq!(state.ended.as_deref(), Some("56 answers are judged"));
    assert!(state.open.is_empty(), "nothing was sampled ahead in vain");
}

#[test]
fn puct_asks_the_seed_first_and_then_its_best_line() {
    let folder = tempfile::tempdir().unwrap();
    let sets = ["search.archive=puct", "budget.steps=40", "search.parents=2"];
    let (_, state) = whole(&plan(folder.path(), &sets));
    assert_eq!(state.iterations[0].parents.len(), 1);
    assert_eq!(state.iterations[0].parents[0].hash, None);
    let deepest = |state: &RunState| {
        let best = state.best.as_ref().unwrap();
        state.lineage(&best.hash).len()
    };
    assert!(deepest(&state) > 2, "lines grow: {}", deepest(&state));
    // Parents are correct programs, the best of their line, and each is a node of the tree.
    for parent in state
        .iterations
        .iter()
        .flat_map(|iteration| &iteration.parents)
    {
        let Some(hash) = &parent.hash else { continue };
        assert!(state.correct(hash).is_some());
    }
    let again = state.archive(ArchiveKind::Puct);
    let mut random = hotloop_flow::random::Random::new(1);
    let chosen = again.select(
        state.root(),
        plan(folder.path(), &sets).search(),
        &mut random,
    );
    assert_eq!(chosen.len(), 2);
}

#[test]
fn prompts_show_slow_and_fast_programs_with_speeds_and_a_profile() {
    let folder = tempfile::tempdir().unwrap();
    let sets = [
        "prompts.contrast=3",
        "prompts.profile=true",
        "budget.steps=20",
    ];
    let plan = plan(folder.path(), &sets);
    let (process, state) = whole(&plan);
    let groups = || state.steps.iter().flat_map(|step| &step.groups);
    let shown: Vec<_> = groups()
        .filter(|group| !group.asked.beside.is_empty())
        .collect();
    assert!(shown.len() > 5, "{} prompts", shown.len());
    for group in &shown {
        let speed = |hash: &String| {
            state
                .correct(hash)
                .unwrap()
                .correct()
                .unwrap()
                .gflops()
                .unwrap()
        };
        let speeds: Vec<f64> = group.asked.beside.iter().map(speed).collect();
        assert!(
            (2..=3).contains(&speeds.len()) && speeds.is_sorted(),
            "{speeds:?}"
        );
        assert!(
            !group
                .asked
                .beside
                .iter()
                .any(|hash| Some(hash) == group.asked.parent.as_ref())
        );
    }
    // The chats of winners are rendered as they were asked.
    let render = Prose {
        wording: plan.wording.clone(),
        begin: plan.config.prompts.begin,
        device: process.bench.facts().device,
    };
    let all = winners(&plan, &state, &render).unwrap();
    let texts: Vec<&str> = all
        .iter()
        .map(|one| one.asked.messages[1].content.as_str())
        .collect();
    assert!(
        texts
            .iter()
            .any(|text| text.contains("slowest first") && text.contains("in the fake profile"))
    );
    assert!(
        process
            .seen
            .iter()
            .any(|event| matches!(event, Event::ParentProfiled { .. }))
    );
}

#[test]
fn copies_lose_the_penalty_and_originals_do_not() {
    let folder = tempfile::tempdir().unwrap();
    let run = |name: &str, penalty: &str| {
        let sets = ["budget.steps=60", "learning.rate=0", penalty];
        whole(&plan(&folder.path().join(name), &sets)).1
    };
    let (plain, lazy) = (
        run("plain", "copy-penalty=0"),
        run("lazy", "copy-penalty=1.5"),
    );
    let mut known = std::collections::BTreeSet::new();
    let mut copies = 0;
    for (one, other) in plain.steps.iter().zip(&lazy.steps) {
        for (one, other) in one.members().zip(other.members()) {
            assert_eq!(
                one.hash, other.hash,
                "nothing is learned, so the answers are equal"
            );
            let is_copy = one.speed.is_some() && known.contains(&one.normal);
            let lost = one.reward.unwrap() - other.reward.unwrap();
            let wanted = if is_copy { 1.5 } else { 0.0 };
            assert!((lost - wanted).abs() < 1e-12, "{lost} of {one:?}");
            copies += usize::from(is_copy);
        }
        known.extend(
            one.members()
                .filter(|one| one.speed.is_some())
                .map(|one| one.normal.clone()),
        );
    }
    assert!(copies > 3, "{copies} copies");
}

#[test]
fn every_objective_learns() {
    let folder = tempfile::tempdir().unwrap();
    for objective in ["max-at-k", "entropic", "decoupled"] {
        let set = format!("learning.advantage={objective}");
        let sets = [
            "budget.steps=60",
            "loop.probe=64",
            "learning.k-last=2",
            &set,
        ];
        let (_, state) = whole(&plan(&folder.path().join(objective), &sets));
        let speed = |when| hotloop_run::probe::summary(&state, when).unwrap().speed;
        let (before, after) = (
            speed(hotloop_run::event::When::Before),
            speed(hotloop_run::event::When::After),
        );
        assert!(after.low > before.high, "{objective}: {before:?} {after:?}");
    }
}
