//! `hotloop experiment PLAN.toml` keeps its time budget, continues after a kill and shows the
//! results.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::{ended, hotloop, root, turn};

/// A plan like those in experiments/qwen, for the nano policy and as short as possible.
const PLAN: &str = r#"
[let]
model = ""
most = "50"
rate = "1e-4"
steps = "2"

[[job]]
name = "warm"
seconds = "{most}+10"
run = "tune --model {model} --device cpu --lora-rank 2 --held-out 0 --data {here}/data.jsonl --out {folder}/warm"

[[job]]
name = "{kind}-1"
seconds = 90
each = [{ kind = "learns", lr = "{rate}", probe = 1 }, { kind = "control", lr = 0, probe = 0 }]
train = "run.toml"
set = { model = "{model}", adapter = "{job:warm}/warm", "learning.rate" = "{lr}", "loop.probe" = "{probe}", "budget.steps" = "{steps}" }
against = "control-1"

[[job]]
name = "best"
seconds = 60
run = "judge matmul {best:learns-1} --paper --check strict --limit 1 --json"
show = true

[[job]]
name = "broken"
seconds = 30
run = "judge nowhere"

[[job]]
name = "after"
seconds = 30
run = "judge matmul {job:broken}/none.c"
"#;
/// Times do not matter here, so three runs of a candidate are enough.
const RUN: &str = "task = \"matmul\"\n[sampling]\ngroup = 2\n[learning]\nlora-rank = 2\n[bench]\ntiming = \"paper\"\n";
const EXAMPLE: &str =
    "{\"prompt\": \"<task:matmul><stage:1><role:explore><answer>\", \"answer\": \"int x;\"}\n";

/// A folder with a plan.
struct Place(tempfile::TempDir);

impl Place {
    fn new(plan: &str) -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        for (name, text) in [
            ("plan.toml", plan),
            ("run.toml", RUN),
            ("data.jsonl", &EXAMPLE.repeat(8)),
        ] {
            std::fs::write(place.path(name), text).unwrap();
        }
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, more: &[&str]) -> Command {
        let mut command = hotloop(&["experiment", "--let", "model=nano"]);
        command.arg(self.path("plan.toml"));
        command.arg("--out").arg(self.path("out")).args(more);
        command
    }

    fn state(&self, job: &str) -> Option<String> {
        let text = std::fs::read_to_string(self.path("out").join(job).join("job.json")).ok()?;
        let record: Value = serde_json::from_str(&text).unwrap();
        record["state"].as_str().map(str::to_owned)
    }
}

fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn a_killed_plan_continues_and_shows_its_results() {
    let quiet = turn();
    let place = Place::new(PLAN);
    let mut first = place.command(&[]).stdout(Stdio::null()).spawn().unwrap();
    let begin = Instant::now();
    while !place.path("out/learns-1/run.toml").exists() {
        assert!(
            begin.elapsed() < Duration::from_mins(2),
            "the run never began"
        );
        std::thread::sleep(Duration::from_millis(50));
    }
    first.kill().unwrap();
    first.wait().unwrap();
    drop(quiet);
    assert_eq!(place.state("warm").as_deref(), Some("done"));
    assert_eq!(place.state("learns-1").as_deref(), Some("cut"));

    let (status, said, error) = ended(&mut place.command(&[]));
    assert_eq!(status, 1, "one job's command names no task: {said}{error}");
    for words in [
        "warm: done before",
        "learns-1: done after",
        "after: left out: it needs broken",
        "run against its control",
        "broken failed",
        "no task `nowhere`",
        "best:\n{\"file\"",
        "4 of 6 jobs are done",
        "not done: broken, after",
    ] {
        assert!(said.contains(words), "{words} is missing in\n{said}");
    }
    assert!(place.path("out/report.html").exists());

    // A finished run refuses another value, and finished jobs are not repeated.
    let (status, _, error) = ended(&mut place.command(&["--let", "rate=2e-4"]));
    assert_eq!(status, 1);
    assert!(
        error.contains("job `learns-1` started with other values")
            && error.contains("choose another --out"),
        "{error}"
    );
    let (status, said, _) = ended(&mut place.command(&["--only", "best", "--json"]));
    let said = lines(&said);
    assert_eq!(status, 0, "{said:?}");
    assert_eq!(
        (said.len(), &said[3]["done"]),
        (4, &Value::from(3)),
        "{said:?}"
    );
}

#[test]
fn a_run_is_cut_off_when_its_time_is_over_and_may_get_another_end() {
    let plan = PLAN.replace("seconds = 90", "seconds = 12");
    let place = Place::new(&plan);
    let long = ["--let", "steps=100000", "--only", "learns-1"];
    let (status, said, error) = ended(&mut place.command(&long));
    assert_eq!(status, 0, "{said}{error}");
    assert!(said.contains("learns-1: cut off after"), "{said}");
    assert_eq!(place.state("learns-1").as_deref(), Some("cut"));
    let (status, said, error) = ended(&mut place.command(&["--only", "learns-1"]));
    assert_eq!(status, 0, "{said}{error}");
    assert_eq!(place.state("learns-1").as_deref(), Some("done"), "{said}");
}

/// `--out` may name a folder that has long been there, and a job may be called like one in it.
#[test]
fn a_folder_that_no_job_made_is_left_alone() {
    let place = Place::new(PLAN);
    let thesis = place.path("out/broken/thesis.tex");
    std::fs::create_dir_all(thesis.parent().unwrap()).unwrap();
    std::fs::write(&thesis, "years of work").unwrap();
    for more in [&[][..], &["--dry-run"], &["--only", "broken"]] {
        let (status, _, error) = ended(&mut place.command(more));
        assert_eq!(status, 1, "{error}");
        assert!(
            error.contains("out/broken exists, and no job made it")
                && error.contains("choose another --out"),
            "{error}"
        );
    }
    assert_eq!(std::fs::read_to_string(&thesis).unwrap(), "years of work");
    // A run that the plan did not begin is not continued either.
    let place = Place::new(PLAN);
    std::fs::create_dir_all(place.path("out/learns-1")).unwrap();
    std::fs::write(place.path("out/learns-1/run.toml"), RUN).unwrap();
    let (status, _, error) = ended(&mut place.command(&["--only", "learns-1"]));
    assert_eq!(status, 1, "{error}");
    assert!(
        error.contains("learns-1 exists, and no job made it"),
        "{error}"
    );
    // An empty folder is nobody's.
    let place = Place::new(PLAN);
    std::fs::create_dir_all(place.path("out/broken")).unwrap();
    let (_, _, error) = ended(&mut place.command(&["--only", "broken"]));
    assert!(!error.contains("no job made it"), "{error}");
    assert_eq!(place.state("broken").as_deref(), Some("failed"));
}

#[test]
fn a_dry_run_shows_jobs_that_fit_the_budget() {
    let place = Place::new(PLAN);
    let dry = ["--dry-run", "--json", "--budget", "200"];
    let (status, said, error) = ended(&mut place.command(&dry));
    assert_eq!(status, 0, "{error}");
    let said = lines(&said);
    let planned: Vec<&str> = said[..6]
        .iter()
        .map(|job| job["state"].as_str().unwrap())
        .collect();
    assert_eq!(
        planned,
        [
            "runs", "runs", "left-out", "left-out", "left-out", "left-out"
        ]
    );
    assert_eq!(said[1]["begins_s"], 60.0);
    assert!(!place.path("out").exists(), "nothing was written");
    let (_, said, _) = ended(&mut place.command(&["--dry-run"]));
    assert!(
        said.contains("hotloop tune --model nano") && said.contains("6 jobs, at most 360 s"),
        "{said}"
    );
}

#[test]
fn mistakes_are_found_before_anything_runs() {
    let place = Place::new(PLAN);
    let refused = |command: &mut Command, words: &str| {
        let (status, _, error) = ended(command);
        assert_eq!(status, 1, "{error}");
        assert!(error.contains(words), "{words} is missing in {error}");
    };
    for (more, words) in [
        (["--let", "model="], "`model` has no value"),
        (["--let", "most=much"], "seconds = \"much+10\""),
        (["--let", "rate=fast"], "learning.rate"),
        (["--only", "nowhere"], "there is no job `nowhere`"),
        (["--set", "seed=1"], "--set does not go with a plan"),
    ] {
        refused(&mut place.command(&more), words);
    }
    let wrong = PLAN.replace("judge nowhere", "judges nowhere");
    refused(
        &mut Place::new(&wrong).command(&[]),
        "job `broken`: `judges nowhere`: error: unrecognized subcommand",
    );
    refused(
        &mut hotloop(&["experiment", "exp1", "--budget", "5"]),
        "--budget does not go with exp1 and exp2",
    );
    refused(
        &mut hotloop(&["experiment", "nowhere.toml"]),
        "nowhere.toml",
    );
}

#[test]
fn the_plan_about_pairs_is_sound() {
    let mut command = hotloop(&["experiment", "--dry-run", "--json"]);
    let given = ["model=qwen.gguf", "pairs=made", "reviewer=critic.gguf"];
    let given = given.iter().flat_map(|value| ["--let", value]);
    let plan = root().join("experiments/pairs.toml");
    let (status, said, error) = ended(command.arg(plan).args(given));
    assert_eq!(status, 0, "{error}");
    let jobs: Vec<Value> = lines(&said);
    let names: Vec<&str> = jobs.iter().filter_map(|job| job["job"].as_str()).collect();
    assert_eq!(names, ["kernelcompare", "synthetic", "compare", "review"]);
}

#[test]
fn the_shipped_plans_are_sound() {
    for name in ["main", "levels", "grid", "variety", "practice", "cold"] {
        let plan = root().join(format!("experiments/qwen/{name}.toml"));
        let sound = |more: &[&str]| sound(&plan, more);
        sound(&[]);
        sound(&["--let", "seconds=600"]);
    }
    for (name, runs) in [("discover", 15), ("parts", 4)] {
        let plan = root().join(format!("experiments/qwen/{name}.toml"));
        let mut command = hotloop(&["experiment", "--dry-run", "--json", "--let", "model=q.gguf"]);
        let (status, said, error) = ended(command.arg(plan).args(["--let", "answers=64"]));
        assert_eq!(status, 0, "{error}");
        let jobs: Vec<Value> = lines(&said)
            .into_iter()
            .filter(|line| line["commands"].is_array())
            .collect();
        assert_eq!(jobs.len(), runs);
        for job in &jobs {
            assert!(
                job["commands"].to_string().contains("budget.answers=64"),
                "{job}"
            );
        }
    }
}

/// Checks that every run has time for more than its steps.
fn sound(plan: &Path, more: &[&str]) {
    let mut command = hotloop(&[
        "experiment",
        "--dry-run",
        "--json",
        "--let",
        "model=qwen.gguf",
    ]);
    let (status, said, error) = ended(command.arg(plan).args(more));
    assert_eq!(status, 0, "{error}");
    let mut runs = 0;
    for job in lines(&said) {
        let Some(words) = job["commands"][0].as_array() else {
            continue;
        };
        let stepping = words.iter().find_map(|word| {
            let seconds = word.as_str()?.strip_prefix("budget.seconds=")?;
            seconds.parse::<f64>().ok()
        });
        if let Some(seconds) = stepping {
            assert!(seconds + 30.0 <= job["seconds"].as_f64().unwrap(), "{job}");
            runs += 1;
        }
    }
    assert!(runs > 1, "{said}");
}
