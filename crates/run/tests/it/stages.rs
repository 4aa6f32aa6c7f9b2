//! A task may define its own stages.

use std::collections::BTreeSet;

use hotloop_flow::Stage;
use hotloop_run::event::When;
use hotloop_run::{Layered, Plan, RunState, probe};

use crate::fake::{plan_of, task_with, whole};

const TWO: &str = r#"
[[stages]]
name = "plain"
wording = "Write no vectors."
forbids = ["simd"]

[[stages]]
name = "anything"
wording = "Write what you like."
"#;

fn both() -> BTreeSet<Stage> {
    [1, 2].map(Stage::numbered).into()
}

fn run(sets: &[&str]) -> (Plan, RunState) {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan_of(folder.path(), sets, &|name| task_with(name, TWO));
    let state = whole(&plan).1;
    (plan, state)
}

#[test]
fn a_run_probes_and_searches_the_stages_of_its_task() {
    let (_, state) = run(&["prompts.source=sqd"]);
    for when in [When::Before, When::After] {
        let probes = state.probes.iter().filter(|probe| probe.when == when);
        let stages: Vec<u8> = probes.map(|probe| probe.stage.number()).collect();
        assert_eq!(stages, [1, 2]);
        let summary = probe::summary(&state, when).unwrap();
        assert_eq!(summary.answers, 2 * 8, "eight to each stage");
    }
    let parents = state
        .iterations
        .iter()
        .flat_map(|iteration| &iteration.parents);
    let asked: BTreeSet<Stage> = parents.map(|parent| parent.stage).collect();
    assert_eq!(asked, both());
}

#[test]
fn a_practised_task_cycles_through_its_own_stages() {
    let (_, state) = run(&["task=matmul,transpose"]);
    let practised = state.steps.iter().flat_map(|step| &step.practised);
    let asked: BTreeSet<Stage> = practised.filter_map(|group| group.asked.stage).collect();
    assert_eq!(asked, both());
}

#[test]
fn a_wording_may_name_only_stages_that_a_task_has() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("wording.toml");
    let words = "system = \"s\"\nfixed = [\"f\"]\nexplore = \"e\"\ndeepen = \"d\"\nimprove = \"i\"\nrepair = \"r\"\n[stages]\nplain = \"P\"\n2 = \"A\"\n";
    let plan = |words: &str| {
        std::fs::write(&file, words).unwrap();
        let text = format!(
            "model = \"fake\"\ndirectory = {:?}\n[prompts]\nwording = {:?}\n",
            folder.path().join("run").to_str().unwrap(),
            file.to_str().unwrap()
        );
        let layered = Layered::read(Some(("run.toml", &text)), &[]).unwrap();
        Plan::new(&layered, "test", &|name| task_with(name, TWO))
    };
    let sound = plan(words).unwrap();
    let said = sound
        .task
        .spec
        .stages
        .iter()
        .map(|rules| sound.wording.stage(rules));
    assert_eq!(said.collect::<Vec<_>>(), ["P", "A"]);
    let mistakes = plan(&words.replace("plain", "openmp")).unwrap_err();
    let text: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
    assert!(
        text.concat()
            .contains("no task of this run has a stage `openmp`"),
        "{text:?}"
    );
}
