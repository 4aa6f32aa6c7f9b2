//! Bad configurations: one clear line each.

use hotloop_run::{Layered, Plan};

use crate::fake::{matmul, task};

fn mistakes(text: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let directory = if text.contains("directory") {
        String::new()
    } else {
        format!("directory = {:?}\n", folder.path().to_str().unwrap())
    };
    let text = format!("{directory}{text}");
    let checked = Layered::read(Some(("run.toml", &text)), &[])
        .and_then(|layered| Plan::new(&layered, "run", &task));
    checked
        .map(|_| ())
        .unwrap_err()
        .iter()
        .map(ToString::to_string)
        .collect()
}

fn check(text: &str, expect: &str) {
    let found = mistakes(text);
    assert_eq!(found, [expect], "for {text}");
    assert!(!found[0].contains('\n'));
}

#[test]
fn each_bad_value_is_named() {
    let none = "model: no model is named; write `model = \"nano\"`, or a folder, a GGUF file or a hub name instead of nano";
    check("", &format!("run.toml: {none}"));
    check(
        "model = \"./none\"",
        "run.toml: model: there is no `./none`",
    );
    check(
        "model = \"nano\"\ntask = \"sort\"",
        "run.toml: task: there is no task `sort`",
    );
    check(
        "model = \"nano\"\ntask = \"matmul, sort\"",
        "run.toml: task: there is no task `sort`",
    );
    check(
        "model = \"nano\"\ntask = \"matmul, fft,matmul\"",
        "run.toml: task: `matmul` is named twice",
    );
    check(
        "model = \"nano\"\ntask = \"matmul, \"",
        "run.toml: task: `matmul, ` has an empty name",
    );
    check(
        "model = \"nano\"\ntask = \"\"",
        "run.toml: task: `` has an empty name",
    );
    let nano = |rest: &str| format!("model = \"nano\"\n{rest}");
    check(
        &nano("task = []"),
        "run.toml: task: the list is empty; name the run's task in it",
    );
    check(
        &nano("task = [\"matmul\", \"\"]"),
        "run.toml: task: `matmul, ` has an empty name",
    );
    check(
        &nano("task = [\"matmul, fft\"]"),
        "run.toml: task: there is no task `matmul, fft`",
    );
    check(
        &nano("[sampling]\ngroup = 1"),
        "run.toml: sampling.group: a group needs at least 2 answers to compare",
    );
    check(
        &nano("[sampling]\ntop-p = 0.9"),
        "run.toml: sampling.top-p: training needs all tokens: truncated tails bias the gradient; set it to 1, or learning.rate to 0",
    );
    check(
        &nano("[budget]\nsteps = 0"),
        "run.toml: budget.steps: no limit is set: the run would not end",
    );
    check(
        &nano("[sampling]\ngruop = 3"),
        "run.toml: sampling.gruop: no such key; did you mean `group`?",
    );
    check(
        &nano("directory = \"/proc/hotloop\""),
        "run.toml: directory: `/proc/hotloop` cannot be written: No such file or directory (os error 2)",
    );
}

#[test]
fn a_folder_that_was_split_at_its_comma_is_named_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("my,task");
    fs_err::create_dir(&path).unwrap();
    let path = path.display();
    check(
        &format!("model = \"nano\"\ntask = \"{path}\""),
        &format!(
            "run.toml: task: a folder whose name contains a comma must be in a list: task = [\"{path}\"]"
        ),
    );
}

#[test]
fn limits_in_the_wrong_order_are_named() {
    let nano = |rest: &str| format!("model = \"nano\"\n{rest}");
    check(
        &nano("reward = { shape = \"ladder-log\", low = 8.0, high = 0.0 }"),
        "run.toml: reward.high: 0 is below low, 8; set high to at least 8, or low to at most 0",
    );
    check(
        &nano("reward = { shape = \"composite\", gamma = -1.0 }"),
        "run.toml: reward.gamma: -1 would reward what is worse; set it to 0 or more",
    );
    check(
        &nano("[sampling]\ntop-p = 1.5"),
        "run.toml: sampling.top-p: must be above 0 and at most 1; 1 keeps all tokens",
    );
    check(
        &nano("[sampling]\nmin-p = -0.5"),
        "run.toml: sampling.min-p: must be from 0 to 1; 0 keeps all tokens",
    );
    check(
        &nano("[learning]\nclip-low = 1.2"),
        "run.toml: learning.clip-low: must be between 0 and 1",
    );
}

/// Nobody edits the embedded defaults, so the message names the run file.
#[test]
fn a_missing_value_is_reported_in_the_users_file() {
    let folder = tempfile::tempdir().unwrap();
    let directory = format!("directory={}", folder.path().display());
    let told = |file: Option<(&str, &str)>| {
        let layered = Layered::read(file, std::slice::from_ref(&directory)).unwrap();
        Plan::new(&layered, "run", &task).map(|_| ()).unwrap_err()[0]
            .file
            .clone()
    };
    assert_eq!(told(Some(("my/empty.toml", ""))), "my/empty.toml");
    assert_eq!(
        told(Some(("my/seed.toml", "seed = 2\n[learning]\nrate = 0\n"))),
        "my/seed.toml"
    );
    assert_eq!(
        told(None),
        hotloop_run::config::OVERRIDE,
        "without a file there is nothing else to set it with"
    );
}

#[test]
fn searching_without_learning_may_truncate_tails() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "model = \"api\"\ndirectory = {:?}\n[sampling]\ntop-p = 0.9\n[learning]\nrate = 0\n",
        folder.path().to_str().unwrap()
    );
    let layered = Layered::read(Some(("run.toml", &text)), &[]).unwrap();
    assert!(Plan::new(&layered, "run", &|_| Ok(matmul())).is_ok());
}

#[test]
fn words_for_a_stage_that_no_task_has_are_a_mistake() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wording.toml");
    let wording = "system = \"\"\nfixed = [\"x\"]\nexplore = \"\"\ndeepen = \"\"\nimprove = \"\"\nrepair = \"\"\n[stages]\n1 = \"a\"\nopenmp = \"d\"\n";
    let text = format!(
        "model = \"nano\"\n[prompts]\nwording = {:?}\n",
        path.to_str().unwrap()
    );
    fs_err::write(&path, format!("{wording}7 = \"g\"\n")).unwrap();
    assert_eq!(
        mistakes(&text),
        [format!(
            "run.toml: prompts.wording: {}: stages: no task of this run has a stage `7`",
            path.display()
        )]
    );
}

#[test]
fn all_mistakes_are_reported_together() {
    let found = mistakes("[sampling]\ngroup = 1\n[learning]\nbeta = -1.0\n");
    assert_eq!(found.len(), 3, "{found:?}");
}

/// The notes at the start of a run with this run file and these overrides.
fn notes(text: &str, sets: &[&str]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let mut sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    sets.extend([
        "model=fake".to_owned(),
        format!("directory={}", folder.path().display()),
    ]);
    let layered = Layered::read(Some(("run.toml", text)), &sets).unwrap();
    Plan::new(&layered, "run", &|_| Ok(matmul()))
        .unwrap()
        .notes()
}

#[test]
fn a_requested_guard_without_effect_is_noted() {
    for sets in [
        &["loop.max-kl=0.5"][..],
        &["loop.max-kl=1"],
        &["loop.max-kl=0.5", "learning.beta=0"],
    ] {
        let found = notes("", sets);
        assert!(
            found.len() == 1 && found[0].starts_with("loop.max-kl has no effect: "),
            "{sets:?}: {found:?}"
        );
    }
    for set in ["learning.beta=0.01", "loop.max-kl=0", "learning.rate=0"] {
        assert_eq!(notes("[loop]\nmax-kl = 0.5\n", &[set]), [""; 0], "{set}");
    }
}

#[test]
fn defaults_cause_no_note() {
    assert_eq!(notes("", &[]), [""; 0]);
    assert_eq!(
        notes(hotloop_run::config::DEFAULT, &[]),
        [""; 0],
        "as `--defaults` prints it"
    );
    let kept = Layered::read(Some(("run.toml", "")), &[])
        .unwrap()
        .config
        .to_toml();
    assert_eq!(notes(&kept, &[]), [""; 0], "as a run keeps it");
}
