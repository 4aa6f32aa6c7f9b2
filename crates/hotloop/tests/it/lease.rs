//! The driver of a leased machine: it goes on after a kill, tells what came of it and packs it.

mod cuts; // what a driver does about time, kills and changed plans

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::{ended, hotloop, root, turn};

/// A plan as those in experiments/h200, for the nano policy and as short as it can be.
const PLAN: &str = r#"
[let]
model = ""
most = "50"

[[job]]
name = "warm"
seconds = "{most}+10"
run = "{hotloop} tune --model {model} --device cpu --lora-rank 2 --held-out 0 --data {here}/data.jsonl --out {folder}/warm"

[[job]]
name = "{kind}-1"
seconds = 90
each = [{ kind = "learns", rate = "1e-4", probe = 1 }, { kind = "control", rate = 0, probe = 0 }]
train = "{here}/run.toml"
set = { model = "{model}", adapter = "{job:warm}/warm", "learning.rate" = "{rate}", "loop.probe" = "{probe}" }
needs = ["warm"]
against = "control-1"

[[job]]
name = "held-out"
seconds = 60
run = "{hotloop} evaluate --model {model} --adapter none,{job:learns-1} --task transpose --stage 1 --count 1 --set bench.timing=paper --keep {folder}/kept"
needs = ["learns-1"]
show = true

[[job]]
name = "best"
seconds = 60
run = "{hotloop} judge matmul {best:learns-1} --paper --check strict --limit 1 --json"
needs = ["learns-1"]

[[job]]
name = "broken"
seconds = 30
run = "{hotloop} judge nowhere"
"#;
/// What the times are does not matter here: three runs of a candidate are enough.
const RUN: &str = "task = \"matmul\"\n[budget]\nsteps = 2\n[sampling]\ngroup = 2\n[learning]\nlora-rank = 2\n\
    [bench]\ntiming = \"paper\"\n";
const EXAMPLE: &str =
    "{\"prompt\": \"<task:matmul><stage:1><role:explore><answer>\", \"answer\": \"int x;\"}\n";

fn lease(arguments: &[&str]) -> Command {
    let mut command = Command::new("python3");
    command
        .arg("-B")
        .arg(root().join("experiments/h200/lease"))
        .args(arguments)
        .stdin(Stdio::null());
    command
}

fn said(command: &mut Command) -> (i32, String, String) {
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        output.status.code().unwrap_or(-1),
        text(output.stdout),
        text(output.stderr),
    )
}

fn planned(folder: &Path) -> PathBuf {
    let plan = folder.join("plan.toml");
    std::fs::write(&plan, PLAN).unwrap();
    std::fs::write(folder.join("run.toml"), RUN).unwrap();
    std::fs::write(folder.join("data.jsonl"), EXAMPLE.repeat(8)).unwrap();
    plan
}

#[test]
fn a_driver_that_was_killed_goes_on_and_packs_what_came_of_it() {
    let quiet = turn();
    let folder = tempfile::tempdir().unwrap();
    let (plan, out) = (planned(folder.path()), folder.path().join("out"));
    let (plan, out_text) = (plan.to_str().unwrap(), out.to_str().unwrap());
    let pack = folder.path().join("pack");
    let arguments = [
        "run",
        plan,
        "--out",
        out_text,
        "--budget",
        "600",
        "--hotloop",
        env!("CARGO_BIN_EXE_hotloop"),
        "--let",
        "model=nano",
        "--pack",
        pack.to_str().unwrap(),
    ];
    let mut driver = lease(&arguments).stdout(Stdio::null()).spawn().unwrap();
    let begin = Instant::now();
    while !out.join("learns-1/run.toml").exists() {
        assert!(
            begin.elapsed() < Duration::from_mins(2),
            "the run never began"
        );
        std::thread::sleep(Duration::from_millis(50));
    }
    driver.kill().unwrap();
    driver.wait().unwrap();
    let (_, status, _) = said(&mut lease(&["status", "--out", out_text]));
    assert!(
        status.contains("ended")
            && status.contains("done     warm")
            && status.contains("waiting  held-out"),
        "{status}"
    );
    assert!(
        pack.join("results.tar.gz").exists(),
        "what was done before the kill is packed"
    );

    let (code, told, error) = said(&mut lease(&arguments));
    assert_eq!(code, 3, "one job cannot be done: {told}{error}");
    for words in [
        "warm: done before",
        "learns-1: done",
        "trained against control",
        "held-out:\ntranspose",
        "broken failed",
        "no task `nowhere`",
    ] {
        assert!(told.contains(words), "{words} is missing in\n{told}");
    }
    let job = |name: &str| -> Value {
        serde_json::from_slice(&std::fs::read(out.join(name).join("job.json")).unwrap()).unwrap()
    };
    assert_eq!(
        (
            job("best")["state"].as_str(),
            job("broken")["state"].as_str()
        ),
        (Some("done"), Some("failed"))
    );

    let unpacked = folder.path().join("unpacked");
    std::fs::create_dir(&unpacked).unwrap();
    for name in ["results", "adapter-learns-1", "journal-learns-1"] {
        let archive = pack.join(format!("{name}.tar.gz"));
        assert!(
            Command::new("tar")
                .arg("-xzf")
                .arg(archive)
                .arg("-C")
                .arg(&unpacked)
                .status()
                .unwrap()
                .success()
        );
    }
    for file in [
        "table.txt",
        "learns-1/report.json",
        "learns-1/steps.csv",
        "learns-1/best.c",
        "held-out/kept/evaluation.json",
    ] {
        assert!(unpacked.join(file).exists(), "{file} is not packed");
    }
    // The adapter in half the bytes still fits its model, and the journal is still a run.
    let bytes = |path: PathBuf| std::fs::metadata(path).unwrap().len();
    let last = std::fs::read_dir(out.join("learns-1/checkpoints"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .max()
        .unwrap();
    let (half, whole) = (
        bytes(unpacked.join("adapter_model.safetensors")),
        bytes(last.join("adapter_model.safetensors")),
    );
    assert!(half * 10 < whole * 7, "{half} of {whole}");
    drop(quiet);
    let sample = [
        "sample",
        "--model",
        "nano",
        "--task",
        "matmul",
        "--stage",
        "1",
        "--max-tokens",
        "8",
        "--adapter",
    ];
    let (status, _, error) = ended(hotloop(&sample).arg(&unpacked));
    assert_eq!(status, 0, "{error}");
    let (status, _, error) = ended(hotloop(&["report", "--json"]).arg(unpacked.join("learns-1")));
    assert_eq!(status, 0, "{error}");
}

#[test]
fn plans_are_checked_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    let plan = planned(folder.path());
    let plan = plan.to_str().unwrap();
    let (code, told, error) = said(&mut lease(&[
        "list",
        plan,
        "--let",
        "model=nano",
        "--only",
        "held*",
    ]));
    assert_eq!(code, 0, "{error}");
    assert!(
        told.contains("warm: at most") && told.contains("held-out") && !told.contains("broken"),
        "{told}"
    );
    for (more, words) in [
        (["--let", "model="], "say what model is"),
        (["--let", "nothing=1"], "lets only model, most"),
        (["--let", "most=a lot"], "warm: 'a lot+10' are no seconds"),
        (["--let", "most=-10"], "warm: '-10+10' are no seconds"),
        (["--only", "nowhere"], "no such job"),
        (["--have", "nowhere=x"], "no such job"),
    ] {
        let (code, _, error) = said(&mut lease(&[
            "list",
            plan,
            "--let",
            "model=nano",
            more[0],
            more[1],
        ]));
        assert_eq!(code, 1, "{error}");
        assert!(error.contains(words), "{words} is missing in {error}");
    }
}

#[test]
fn the_plans_of_the_h200_are_sound() {
    for name in ["main", "levels", "grid", "variety", "practice", "cold"] {
        let plan = root().join(format!("experiments/h200/plan-{name}.toml"));
        let given = ["list", plan.to_str().unwrap(), "--let", "model=qwen.gguf"];
        let longer: &[&str] = &["--let", "seconds=600", "--let", "grid-seconds=500"]
            [..if name == "grid" { 4 } else { 2 }];
        for more in [&[], longer] {
            let (code, told, error) = said(lease(&given).args(more));
            assert_eq!(code, 0, "{error}");
            assert!(told.contains("warm") && !told.contains("{job:"), "{told}");
            let stepping = limits(&told);
            assert!(!stepping.is_empty(), "{told}");
            for (job, most, seconds) in stepping {
                assert!(
                    seconds + 30.0 <= most,
                    "{name}: {job} steps for {seconds} s of {most} s"
                );
            }
        }
    }
}

/// Of each run that `lease list` tells: its name, its limit, and the seconds that it is to step.
fn limits(told: &str) -> Vec<(&str, f64, f64)> {
    let lines: Vec<&str> = told.lines().collect();
    let pairs = lines.windows(2).filter_map(|pair| {
        let (job, most) = pair[0].split_once(": at most ")?;
        let seconds = pair[1].split_once("budget.seconds=")?.1.split(' ').next()?;
        Some((
            job,
            most.strip_suffix(" s")?.parse().ok()?,
            seconds.parse().ok()?,
        ))
    });
    pairs.collect()
}
