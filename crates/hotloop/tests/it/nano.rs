//! The nano policy writes correct candidates and learns, and its corpus can be recreated.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{ended, hotloop, lines, root};

#[test]
fn it_writes_correct_candidates() {
    let folder = tempfile::tempdir().unwrap();
    let answers = folder.path().join("answers.jsonl");
    let asked = [
        "sample",
        "--model",
        "nano",
        "--task",
        "matmul",
        "--stage",
        "2",
        "--count",
        "16",
        "--max-tokens",
        "320",
    ];
    let (status, out, error) = ended(hotloop(&asked).arg("--json"));
    assert_eq!(status, 0, "{error}");
    std::fs::write(&answers, out).unwrap();
    // The strict check decides, and three timings are enough, because speed does not matter here.
    let how = [
        "--paper", "--check", "strict", "--limit", "1", "--stage", "2", "--json",
    ];
    let judge = [
        "judge",
        "matmul",
        "--completions",
        answers.to_str().unwrap(),
    ];
    let judged = lines(&[&judge[..], &how].concat());
    let correct = judged
        .iter()
        .filter(|line| line["verdict"] == "correct")
        .count();
    assert!(
        judged.len() == 16 && correct >= 10,
        "{correct} of {} answers are right",
        judged.len()
    );
}

#[test]
fn the_quickstart_probes_learns_probes_again_and_reports() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("runs");
    let short = [
        "--seconds",
        "1",
        "--set",
        "loop.probe=1",
        "--set",
        "sampling.group=2",
        "--control",
        "--out",
    ];
    let tasks = ["quickstart", "--task", "matmul, transpose"];
    let arguments: Vec<&str> = tasks
        .into_iter()
        .chain(short)
        .chain([out.to_str().unwrap()])
        .collect();
    let (status, told, error) = ended(&mut hotloop(&arguments));
    assert_eq!(status, 0, "{told}{error}");
    for words in [
        "nano trains all parameters",
        "on matmul, practising transpose",
        "practised transpose 1: ",
        "before learning",
        "after learning",
        "control",
        "Fastest code",
        "report.html",
    ] {
        assert!(told.contains(words), "{words} is missing in\n{told}");
    }
    assert!(out.join("report.html").exists() && out.join("control/events.jsonl").exists());
    // Repeating the command has nothing to do and says so.
    let (status, again, error) = ended(&mut hotloop(&arguments));
    assert_eq!(status, 0, "{again}{error}");
    assert!(
        again.contains("done before") && again.contains("after learning"),
        "{again}"
    );
}

/// An adapter of rank 2 for the nano policy, trained for a moment.
pub(crate) fn adapter(folder: &Path) -> PathBuf {
    let (data, warm) = (folder.join("data.jsonl"), folder.join("warm"));
    let example =
        "{\"prompt\": \"<task:matmul><stage:1><role:explore><answer>\", \"answer\": \"int x;\"}\n";
    std::fs::write(&data, example.repeat(8)).unwrap();
    let tune = [
        "tune",
        "--model",
        "nano",
        "--device",
        "cpu",
        "--lora-rank",
        "2",
        "--held-out",
        "0",
        "--data",
    ];
    let (status, _, error) = ended(hotloop(&tune).arg(&data).arg("--out").arg(&warm));
    assert_eq!(status, 0, "{error}");
    warm
}

#[test]
fn a_run_that_starts_with_an_adapter_says_what_it_trains() {
    let folder = tempfile::tempdir().unwrap();
    let adapter = adapter(folder.path());
    let file = folder.path().join("run.toml");
    let text = format!(
        "model = \"nano\"\nadapter = \"{}\"\ndirectory = \"{}\"\n[budget]\nsteps = 1\n\
         [sampling]\ngroup = 2\n[bench]\ntiming = \"paper\"\n[loop]\nprobe = 0\n",
        adapter.display(),
        folder.path().join("run").display()
    );
    std::fs::write(&file, text).unwrap();
    let (status, told, error) = ended(hotloop(&["train"]).arg(&file));
    assert_eq!(status, 0, "{told}{error}");
    assert!(
        told.contains("trains LoRA of rank 2 at") && !told.contains("all parameters"),
        "{told}"
    );
}

#[test]
fn a_task_it_was_not_trained_on_is_reported_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("runs");
    for task in ["fft", "matmul, fft"] {
        let (status, _, error) = ended(hotloop(&["quickstart", "--task", task, "--out"]).arg(&out));
        assert_eq!(status, 1);
        let told = error.contains("task")
            && error.contains("was not trained on `fft`")
            && error.contains("stencil2d");
        assert!(told, "{error}");
    }
}

#[test]
fn the_tokenizer_in_the_repository_is_the_corpuss() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("corpus");
    let (status, told, error) =
        ended(hotloop(&["corpus", "synth", "--records", "50", "--json", "--out"]).arg(&out));
    assert_eq!(status, 0, "{error}");
    let manifest: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(
        manifest["train"].as_u64().unwrap() + manifest["validation"].as_u64().unwrap(),
        50
    );
    let read = |path: std::path::PathBuf| {
        serde_json::from_slice::<Value>(&std::fs::read(path).unwrap()).unwrap()
    };
    let (made, kept) = (
        read(out.join("tokenizer.json")),
        read(root().join("models/nano/tokenizer.json")),
    );
    assert!(
        made == kept,
        "the weights in models/nano were made with another corpus: make them anew"
    );
    let (status, _, error) = ended(hotloop(&["corpus", "synth", "--out"]).arg(&out));
    assert_eq!(status, 1, "what is there is never replaced");
    assert!(error.contains("already exists"), "{error}");
}

#[test]
fn it_learns_from_examples_and_can_be_sampled_afterwards() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (
        folder.path().join("data.jsonl"),
        folder.path().join("tuned"),
    );
    let line =
        "{\"prompt\": \"<task:matmul><stage:1><role:explore><answer>\", \"answer\": \"int x;\"}\n";
    std::fs::write(&data, line.repeat(40)).unwrap();
    let tune = [
        "tune",
        "--model",
        "nano",
        "--device",
        "cpu",
        "--lora-rank",
        "0",
        "--rate",
        "3e-3",
        "--batch-tokens",
        "64",
    ];
    let mut command = hotloop(&tune);
    command
        .args(["--epochs", "4", "--held-out", "10", "--json", "--data"])
        .arg(&data)
        .arg("--out")
        .arg(&out);
    let (status, told, error) = ended(&mut command);
    assert_eq!(status, 0, "{error}");
    let facts: Value = serde_json::from_str(&told).unwrap();
    assert!(
        facts["loss_after"].as_f64().unwrap() < 0.2 * facts["loss_before"].as_f64().unwrap(),
        "{facts}"
    );
    let ask = [
        "sample",
        "--prompt",
        "<task:matmul><stage:1><role:explore><answer>",
        "--temperature",
        "0",
        "--model",
    ];
    let (status, answer, error) = ended(hotloop(&ask).arg(&out));
    assert_eq!(status, 0, "{error}");
    assert_eq!(answer.trim(), "int x;");
    let mistaken = |line: &str, words: &str| {
        std::fs::write(&data, line).unwrap();
        let other = folder.path().join("other");
        let (status, _, error) = ended(
            hotloop(&tune[..5])
                .args(["--data"])
                .arg(&data)
                .arg("--out")
                .arg(other),
        );
        assert_eq!(status, 1);
        assert!(
            error.contains("data.jsonl: line 1: ") && error.contains(words),
            "{error}"
        );
    };
    mistaken(
        "{\"messages\": [{\"role\": \"user\", \"content\": \"hi\"}]}\n",
        "nothing to learn",
    );
    mistaken(
        "{\"question\": \"hi\"}\n",
        "neither `prompt` and `answer` nor `messages`",
    );
}

#[test]
fn an_adapter_has_the_requested_shape() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (
        folder.path().join("data.jsonl"),
        folder.path().join("tuned"),
    );
    let line =
        "{\"prompt\": \"<task:matmul><stage:1><role:explore><answer>\", \"answer\": \"int x;\"}\n";
    std::fs::write(&data, line.repeat(4)).unwrap();
    let tune = |asked: &[&str]| {
        let tune = [
            "tune",
            "--model",
            "nano",
            "--device",
            "cpu",
            "--lora-rank",
            "2",
            "--held-out",
            "0",
            "--data",
        ];
        ended(hotloop(&tune).arg(&data).arg("--out").arg(&out).args(asked))
    };
    for (wrong, why) in [
        (
            ["--lora-targets", "q_proj,x_proj"],
            "there are q_proj, k_proj",
        ),
        (["--lora-dropout", "1"], "a share from 0 to below 1"),
        (["--lora-alpha", "0"], "a number above 0"),
    ] {
        let (status, _, error) = tune(&wrong);
        assert!(
            status != 0 && error.contains(why) && !out.exists(),
            "{error}"
        );
    }
    let asked = [
        "--lora-alpha",
        "3",
        "--lora-dropout",
        "0.25",
        "--lora-targets",
        "v_proj,q_proj",
    ];
    let (status, _, error) = tune(&asked);
    assert_eq!(status, 0, "{error}");
    let made = std::fs::read(out.join("adapter_config.json")).unwrap();
    let made: serde_json::Value = serde_json::from_slice(&made).unwrap();
    assert_eq!(
        (
            &made["r"],
            made["lora_alpha"].as_f64(),
            made["lora_dropout"].as_f64()
        ),
        (&2.into(), Some(3.0), Some(0.25))
    );
    assert_eq!(
        made["target_modules"],
        serde_json::json!(["q_proj", "v_proj"])
    );
}
