//! Models are described, converted, sampled, trained and reported on, with a model of 61 kB.

mod mistakes;

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use crate::{ended, hotloop, lines, root, turn};

/// A random model that writes noise.
fn tiny() -> String {
    root()
        .join("crates/policy/tests/fixtures/tiny.gguf")
        .to_str()
        .unwrap()
        .to_owned()
}

/// The same model as a folder, with a context large enough for a task's prompt.
pub(crate) fn roomy(folder: &Path) -> PathBuf {
    let model = folder.join("model");
    if !model.exists() {
        let (status, _, error) = ended(&mut hotloop(&[
            "model",
            "convert",
            &tiny(),
            model.to_str().unwrap(),
        ]));
        assert_eq!(status, 0, "{error}");
        let path = model.join("config.json");
        let mut config: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        config["max_position_embeddings"] = Value::from(8192);
        std::fs::write(&path, config.to_string()).unwrap();
    }
    model
}

/// The smallest possible run file for that model.
fn run_file(folder: &Path, more: &str) -> String {
    let path = folder.join("tiny.toml");
    let (model, runs) = (roomy(folder), folder.join("run"));
    let model = model.display();
    let text = format!(
        "model = \"{model}\"\ntask = \"transpose\"\ndirectory = \"{}\"\n{more}\n\
         [budget]\nsteps = 2\n[sampling]\ngroup = 2\nmax-tokens = 4\n[learning]\nlora-rank = 2\n[loop]\nprobe = 0\n",
        runs.display()
    );
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// The same model with another vocabulary: each token is a whole answer. A third of them is
/// correct, a third computes nothing and a third does not compile. So the model can learn on the
/// real bench.
fn worded(folder: &Path) -> PathBuf {
    let model = roomy(folder);
    let path = model.join("tokenizer.json");
    let mut tokenizer: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let right = "for(intĠi=0;i<M;i++)for(intĠj=0;j<N;j++)out[j*M+i]=in[i*N+j];";
    // Tokens must differ. The text after the closing fence is cut off.
    let words = (3..64_u64).map(|id| {
        let body = [right, "", "x;"][id as usize % 3];
        (format!("{body}}}Ċ```{id}"), Value::from(id))
    });
    let special = ["<unk>", "<|im_start|>", "<|im_end|>"]
        .map(str::to_owned)
        .into_iter()
        .zip((0..3_u64).map(Value::from));
    tokenizer["model"]["vocab"] = Value::Object(special.chain(words).collect());
    tokenizer["model"]["merges"] = Value::Array(Vec::new());
    std::fs::write(&path, tokenizer.to_string()).unwrap();
    model
}

/// Asserts that the command fails with `status` and prints `words`.
fn fails(arguments: &[&str], status: i32, words: &[&str]) {
    let (got, _, error) = ended(&mut hotloop(arguments));
    assert_eq!(got, status, "{arguments:?}: {error}");
    for word in words {
        assert!(
            error.contains(word),
            "{arguments:?} does not say `{word}`: {error}"
        );
    }
}

#[test]
fn a_model_is_described_and_converted() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("converted");
    let (status, said, error) = ended(&mut hotloop(&[
        "model",
        "convert",
        &tiny(),
        out.to_str().unwrap(),
    ]));
    assert_eq!(status, 0, "{said}{error}");
    let [from] = &lines(&["model", "info", &tiny(), "--json"])[..] else {
        panic!("one object")
    };
    let [to] = &lines(&["model", "info", out.to_str().unwrap(), "--json"])[..] else {
        panic!("one object")
    };
    for key in [
        "family",
        "parameters",
        "layers",
        "context",
        "vocabulary",
        "tied_head",
        "chat_template",
    ] {
        assert_eq!(from[key], to[key], "{key}");
    }
    assert_eq!(
        (&from["family"], &from["chat_template"]),
        (&Value::from("llama"), &Value::from(true))
    );
    assert_eq!(to["stored"]["F32"], to["parameters"]);
    let (status, said, _) = ended(&mut hotloop(&["model", "info", &tiny()]));
    assert!(
        status == 0 && said.contains("chat template") && said.contains("memory: LoRA"),
        "{said}"
    );
    let [carried] = &lines(&["model", "info", "nano", "--json"])[..] else {
        panic!("one object")
    };
    assert_eq!(carried["path"], "nano", "where it was unpacked is gone");
    fails(
        &["model", "convert", &tiny(), out.to_str().unwrap()],
        1,
        &["is there already", "hint:"],
    );
}

#[test]
fn missing_models_are_named_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().to_str().unwrap();
    fails(
        &["model", "info", "no-such.gguf"],
        1,
        &["no-such.gguf", "no such file", "hint:"],
    );
    fails(&["model", "info", empty], 1, &["config.json", "hint:"]);
    fails(
        &["model", "info", "nobody/nothing"],
        1,
        &["nobody/nothing", "hint:", "hotloop model pull"],
    );
    fails(
        &["sample", "--model", "./none", "--prompt", "x"],
        1,
        &["./none", "hint:"],
    );
    fails(
        &["report", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")],
        1,
        &["directory of a run, not a file"],
    );
    fails(
        &[
            "sample",
            "--model",
            "http://localhost:1/v1#x",
            "--prompt",
            "x",
        ],
        1,
        &["endpoint", "--api"],
    );
    fails(&["sample", "--model", &tiny()], 1, &["--prompt"]);
    fails(
        &[
            "sample",
            "--model",
            &tiny(),
            "--adapter",
            empty,
            "--prompt",
            "abc",
        ],
        1,
        &["adapter"],
    );
    fails(
        &[
            "sample",
            "--model",
            &tiny(),
            "--prompt",
            "abc",
            "--max-tokens",
            "99999",
        ],
        1,
        &["context", "hint:"],
    );
}

#[test]
fn sampled_answers_can_be_judged() {
    let folder = tempfile::tempdir().unwrap();
    let chats = folder.path().join("chats.jsonl");
    let asked = r#"{"messages": [{"role": "user", "content": "abc"}], "begun": "he"}"#;
    std::fs::write(&chats, format!("{asked}\n{asked}\n")).unwrap();
    let chats = chats.to_str().unwrap();
    let model = tiny();
    let arguments = [
        "sample",
        "--model",
        &model,
        "--chats",
        chats,
        "--count",
        "2",
        "--max-tokens",
        "3",
        "--json",
    ];
    let answers = lines(&arguments);
    assert_eq!(answers.len(), 4);
    let places: Vec<(u64, u64)> = answers
        .iter()
        .map(|line| {
            (
                line["chat"].as_u64().unwrap(),
                line["answer"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(places, [(0, 0), (0, 1), (1, 0), (1, 1)]);
    for answer in &answers {
        assert!(
            answer["completion"].as_str().unwrap().starts_with("he"),
            "{answer}"
        );
        assert!(
            answer["tokens"].as_u64().unwrap() <= 3
                && answer["mean_logprob"].as_f64().unwrap() < 0.0,
            "{answer}"
        );
    }
    assert_eq!(
        answers,
        lines(&arguments),
        "the same seed gives the same answers"
    );
    let text: Vec<String> = answers.iter().map(ToString::to_string).collect();
    let _turn = turn();
    let verdicts = judged(&text.join("\n"));
    assert_eq!(verdicts.len(), 4);
    assert!(
        verdicts
            .iter()
            .all(|line| line["verdict"] == "malformed" && line["carried"]["ending"].is_string())
    );
    std::fs::write(folder.path().join("bad.jsonl"), "{}\n").unwrap();
    let bad = folder.path().join("bad.jsonl");
    fails_now(
        &[
            "sample",
            "--model",
            &model,
            "--chats",
            bad.to_str().unwrap(),
        ],
        &["bad.jsonl:1", "messages", "hint:"],
    );
}

/// The output of `judge --completions -` for each line.
fn judged(completions: &str) -> Vec<Value> {
    let mut judge = hotloop(&["judge", "transpose", "--completions", "-", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    judge
        .stdin
        .take()
        .unwrap()
        .write_all(completions.as_bytes())
        .unwrap();
    let judged = judge.wait_with_output().unwrap();
    assert!(judged.status.success());
    judged
        .stdout
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect()
}

/// Like `fails`, for a caller that holds the turn already.
fn fails_now(arguments: &[&str], words: &[&str]) {
    let output = hotloop(arguments).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(words.iter().all(|word| error.contains(word)), "{error}");
}

#[test]
fn a_chat_answers_line_by_line() {
    let model = tiny();
    let mut chat = hotloop(&[
        "chat",
        "--model",
        &model,
        "--max-tokens",
        "2",
        "--threads",
        "1",
    ])
    .stdin(Stdio::piped())
    .stdout(Stdio::piped())
    .spawn()
    .unwrap();
    chat.stdin
        .take()
        .unwrap()
        .write_all(b"abc\n\nhello\n")
        .unwrap();
    let output = chat.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn a_run_trains_resumes_and_is_reported_on() {
    let folder = tempfile::tempdir().unwrap();
    let file = run_file(folder.path(), "");
    let run = folder.path().join("run");
    let directory = run.to_str().unwrap();
    let (status, out, error) = ended(&mut hotloop(&["train", &file, "--set", "budget.steps=1"]));
    assert_eq!(status, 0, "{out}{error}");
    for words in [
        "trains LoRA of rank 2",
        "seed: ",
        "step    1",
        "malformed 100 %",
        "done: the only step is done",
        "report.html",
    ] {
        assert!(out.contains(words), "no `{words}`: {out}{error}");
    }
    assert!(run.join("report.html").exists() && run.join("events.jsonl").exists());
    // A finished run stays finished.
    let (status, out, error) = ended(&mut hotloop(&["train", "--resume", directory]));
    assert!(
        status == 0 && out.contains("done: the only step is done") && !out.contains("step    2"),
        "{out}{error}"
    );
    let more = ended(&mut hotloop(&[
        "train",
        "--resume",
        directory,
        "--set",
        "budget.steps=2",
    ]));
    assert!(
        more.0 == 0 && more.2.contains("is over (the only step") && more.2.contains("budget.steps"),
        "{more:?}"
    );
    fails(
        &["train", "--resume", directory, "--set", "seed=7"],
        1,
        &["is over", "other values of seed", "hint:"],
    );
    let table = ended(&mut hotloop(&["report", directory]));
    assert!(
        table.0 == 0 && table.1.contains("answers") && table.1.contains("report.html"),
        "{table:?}"
    );
    let [report] = &lines(&["report", directory, "--json"])[..] else {
        panic!("one object")
    };
    assert_eq!(report["runs"][0]["totals"]["steps"], 1);
    let csv = ended(&mut hotloop(&["report", directory, "--csv"]));
    assert_eq!(csv.1.lines().count(), 2, "{}", csv.1);
    let both = folder.path().join("both");
    let compared = ended(&mut hotloop(&[
        "report",
        directory,
        directory,
        "--out",
        both.to_str().unwrap(),
    ]));
    assert!(
        compared.0 == 0 && both.join("steps.csv").exists(),
        "{compared:?}"
    );
}

#[test]
fn a_model_learns_on_the_real_bench_and_its_adapter_can_be_sampled() {
    let folder = tempfile::tempdir().unwrap();
    let file = run_file(folder.path(), "");
    let model = worded(folder.path());
    let sets = [
        "budget.steps=6",
        "sampling.group=24",
        "learning.rate=0.05",
        "learning.lora-rank=8",
        "bench.timing=paper",
    ];
    let sets = sets.iter().flat_map(|set| ["--set", set]);
    let arguments: Vec<&str> = ["train", &file].into_iter().chain(sets).collect();
    let (status, out, error) = ended(&mut hotloop(&arguments));
    assert_eq!(status, 0, "{out}{error}");
    assert!(
        out.contains("correct") && out.contains("not-compiled") && out.contains("best "),
        "{out}{error}"
    );
    let run = folder.path().join("run");
    let [report] = &lines(&["report", run.to_str().unwrap(), "--json"])[..] else {
        panic!("one object")
    };
    let run_report = &report["runs"][0];
    assert!(
        run_report["totals"]["updates"].as_u64().unwrap() >= 3,
        "{out}"
    );
    assert!(run_report["best"]["speed"].as_f64().unwrap() > 0.0);
    let right = |adapter: Option<&Path>| {
        let model = model.to_str().unwrap();
        let mut arguments = vec![
            "sample",
            "--model",
            model,
            "--task",
            "transpose",
            "--stage",
            "1",
            "--json",
        ];
        arguments.extend(["--count", "60", "--max-tokens", "4"]);
        arguments.extend(
            adapter
                .iter()
                .flat_map(|adapter| ["--adapter", adapter.to_str().unwrap()]),
        );
        lines(&arguments)
            .iter()
            .filter(|line| line["completion"].as_str().unwrap().contains("out[j*M+i]"))
            .count()
    };
    let (before, after) = (
        right(None),
        right(Some(&run.join("checkpoints/step-00000006"))),
    );
    assert!(
        after > before + 10,
        "right answers of 60: {before} before, {after} after\n{out}"
    );
}

#[test]
fn a_signal_pauses_a_run_which_then_continues() {
    let folder = tempfile::tempdir().unwrap();
    let file = run_file(folder.path(), "");
    let directory = folder.path().join("run");
    let waiting = turn();
    let mut child = hotloop(&["train", &file, "--set", "budget.steps=100000"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap())
        .lines()
        .map(Result::unwrap);
    assert!(
        out.any(|line| line.starts_with("step    2")),
        "it ended by itself"
    );
    let asked = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(asked.success());
    let rest: Vec<String> = out.collect();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest:?}");
    assert!(
        rest.iter()
            .any(|line| line.starts_with("paused: ") && line.contains("--resume")),
        "{rest:?}"
    );
    drop(waiting);
    let resume = ["train", "--resume", directory.to_str().unwrap(), "--set"];
    fails(&[&resume[..], &["seed=7"]].concat(), 1, &["seed", "hint:"]);
    let (status, out, error) = ended(&mut hotloop(&[&resume[..], &["budget.steps=2"]].concat()));
    assert!(
        status == 0 && out.contains("continuing after step") && out.contains("done: "),
        "{out}{error}"
    );
}

#[test]
fn experiments_are_listed_with_their_progress() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let (status, said, _) = ended(&mut hotloop(&[
        "experiment",
        "exp2",
        "--list",
        "--out",
        out,
    ]));
    assert_eq!(
        (status, said.matches("not begun").count()),
        (0, 6),
        "{said}"
    );
    let (status, said, _) = ended(&mut hotloop(&["train", "--defaults"]));
    assert!(status == 0 && said.contains("[learning]"), "{said}");
}
