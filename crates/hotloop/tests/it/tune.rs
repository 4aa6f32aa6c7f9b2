//! `hotloop tune` stops when its loss or gradient becomes NaN, and keeps what it has learned.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::{ended, hotloop, model};

/// A model that returns NaN for a text with a 9 and works otherwise. One row of its embedding is
/// broken, and the head is separate.
fn flawed(folder: &Path) -> PathBuf {
    let model = model::roomy(folder);
    let (weights, config) = (model.join("model.safetensors"), model.join("config.json"));
    let mut told: Value = serde_json::from_slice(&std::fs::read(&config).unwrap()).unwrap();
    told["tie_word_embeddings"] = json!(false);
    std::fs::write(&config, told.to_string()).unwrap();
    let bytes = std::fs::read(&weights).unwrap();
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let mut header: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    let mut data = bytes[8 + length..].to_vec();
    let embedding = header["model.embed_tokens.weight"].clone();
    let at = |index: usize| embedding["data_offsets"][index].as_u64().unwrap() as usize;
    let (rows, end) = (data[at(0)..at(1)].to_vec(), data.len());
    let (nine, row) = (47, rows.len() / 64);
    data[at(0) + nine * row..][..4].copy_from_slice(&f32::NAN.to_le_bytes());
    data.extend_from_slice(&rows);
    header["lm_head.weight"] = json!({"dtype": "F32", "shape": embedding["shape"], "data_offsets": [end, end + rows.len()]});
    let mut header = header.to_string();
    header.extend(std::iter::repeat_n(
        ' ',
        header.len().next_multiple_of(8) - header.len(),
    ));
    let whole = [
        &(header.len() as u64).to_le_bytes()[..],
        header.as_bytes(),
        &data,
    ]
    .concat();
    std::fs::write(&weights, whole).unwrap();
    model
}

/// A line of data.
fn example(answer: &str) -> String {
    format!("{{\"prompt\": \"hello\", \"answer\": \"{answer}\"}}\n")
}

/// Tunes into `folder/warm` and returns the status and standard error.
fn tune(folder: &Path, model: &str, more: &[&str]) -> (i32, String) {
    let mut command = hotloop(&["tune", "--device", "cpu", "--model", model]);
    command
        .arg("--data")
        .arg(folder.join("data.jsonl"))
        .arg("--out")
        .arg(folder.join("warm"))
        .args(more);
    let (status, _, error) = ended(&mut command);
    (status, error)
}

fn facts(folder: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(folder.join("step.json")).unwrap()).unwrap()
}

/// Asserts that the adapter can be sampled and holds the state after `steps`.
fn answers_after(model: &str, adapter: &Path, steps: u64) {
    let ask = [
        "sample",
        "--model",
        model,
        "--prompt",
        "hello",
        "--max-tokens",
        "1",
        "--adapter",
    ];
    let (status, _, error) = ended(hotloop(&ask).arg(adapter));
    assert_eq!(status, 0, "{error}");
    let progress = std::fs::read_to_string(adapter.join("progress.json")).unwrap();
    assert_eq!(progress, format!("{{\"steps\":{steps}}}"));
}

#[test]
fn a_nan_loss_is_reported_and_the_last_good_adapter_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let model = flawed(folder.path());
    let model = model.to_str().unwrap();
    let lines = [
        example("world").repeat(9),
        example("world 9"),
        example("world").repeat(2),
    ]
    .concat();
    std::fs::write(folder.path().join("data.jsonl"), lines).unwrap();
    let diverged = folder.path().join("warm.diverged");
    let one_each = [
        "--lora-rank",
        "2",
        "--batch-tokens",
        "1",
        "--held-out",
        "0",
        "--rate",
        "1e-3",
    ];
    let (status, error) = tune(folder.path(), model, &one_each);
    assert_eq!(status, 1, "{error}");
    let told = facts(&diverged);
    let step = told["step"].as_u64().unwrap();
    assert!(step > 1, "the seed is to put another before it: {told:#}");
    for words in [
        format!("step {step} of 12: loss NaN, gradient norm NaN, rate "),
        format!("{}", diverged.join("step.json").display()),
        format!(
            "the adapter after step {}: {}",
            step - 1,
            diverged.join("adapter").display()
        ),
        "warm is not written".to_owned(),
        "hint: lower --rate, or look at the examples".to_owned(),
    ] {
        assert!(error.contains(&words), "no `{words}`: {error}");
    }
    assert_eq!(
        (&told["loss"], &told["gradient_norm"]),
        (&json!("NaN"), &json!("NaN"))
    );
    assert_eq!(
        (&told["of"], &told["taken"], &told["kept_step"]),
        (&json!(12), &json!(false), &json!(step - 1))
    );
    let [seen] = &told["batch"].as_array().unwrap()[..] else {
        panic!("one example: {told:#}")
    };
    assert!(
        seen["example"].as_str().unwrap().ends_with("data.jsonl:10"),
        "{seen}"
    );
    assert!(
        seen["loss"] == "NaN" && seen["tokens"].as_u64() > seen["scored"].as_u64(),
        "{seen}"
    );
    let before = told["before"].as_array().unwrap();
    assert_eq!(before.len() as u64, step - 1);
    assert!(before.iter().all(|gave| gave["loss"].is_f64()
        && gave["gradient_norm"].is_f64()
        && gave["rate"].is_f64()));
    let names = || {
        std::fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect::<Vec<_>>()
    };
    assert_eq!(names().len(), 3, "nothing half-written: {:?}", names());
    answers_after(model, &diverged.join("adapter"), step - 1);
    // An existing adapter stays.
    assert_eq!(tune(folder.path(), model, &one_each).0, 1);
    assert_eq!(facts(&folder.path().join("warm.diverged-2")), told);
}

#[test]
fn a_nan_in_the_first_step_is_not_blamed_on_the_rate() {
    let folder = tempfile::tempdir().unwrap();
    let model = flawed(folder.path());
    std::fs::write(folder.path().join("data.jsonl"), example("9").repeat(4)).unwrap();
    let (status, error) = tune(folder.path(), model.to_str().unwrap(), &["--held-out", "0"]);
    assert!(
        status == 1
            && error.contains("step 1 of 1: loss NaN")
            && error.contains("no adapter is kept"),
        "{error}"
    );
    assert!(
        error.contains("hint: the learning rate cannot be the cause")
            && !error.contains("lower --rate"),
        "{error}"
    );
    let told = facts(&folder.path().join("warm.diverged"));
    assert_eq!(
        (&told["kept"], told["batch"].as_array().unwrap().len()),
        (&Value::Null, 4)
    );
    let (status, error) = tune(
        folder.path(),
        model.to_str().unwrap(),
        &["--held-out", "50"],
    );
    assert!(
        status == 1 && error.contains("before any step the loss on held-out examples is NaN"),
        "{error}"
    );
}

#[test]
fn an_adapter_that_a_step_broke_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let model = model::roomy(folder.path());
    std::fs::write(folder.path().join("data.jsonl"), example("world").repeat(8)).unwrap();
    let fast = [
        "--lora-rank",
        "2",
        "--batch-tokens",
        "1",
        "--held-out",
        "0",
        "--rate",
        "1.5e18",
    ];
    let (status, error) = tune(folder.path(), model.to_str().unwrap(), &fast);
    assert_eq!(status, 1, "{error}");
    let diverged = folder.path().join("warm.diverged");
    let told = facts(&diverged);
    let (step, kept) = (
        told["step"].as_u64().unwrap(),
        told["kept_step"].as_u64().unwrap(),
    );
    assert!((1..step - 1).contains(&kept), "{told:#}");
    assert!(
        error.contains(&format!("the adapter after step {kept}: ")),
        "{error}"
    );
    let ask = [
        "sample",
        "--prompt",
        "hello",
        "--max-tokens",
        "1",
        "--model",
    ];
    let (status, _, error) = ended(
        hotloop(&ask)
            .arg(&model)
            .arg("--adapter")
            .arg(diverged.join("adapter")),
    );
    assert_eq!(status, 0, "{error}");
}

#[test]
fn a_last_step_that_breaks_the_adapter_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let line =
        "{\"prompt\": \"<task:matmul><stage:1><role:explore><answer>\", \"answer\": \"int x;\"}\n";
    std::fs::write(folder.path().join("data.jsonl"), line.repeat(8)).unwrap();
    for (held_out, name) in [("0", "warm.diverged"), ("50", "warm.diverged-2")] {
        let (status, error) = tune(
            folder.path(),
            "nano",
            &["--lora-rank", "0", "--rate", "1e38", "--held-out", held_out],
        );
        assert_eq!(status, 1, "{error}");
        let words = "after step 1 of 1, at a rate of 1.0e38, the loss is NaN";
        assert!(
            error.contains(words)
                && error.contains("no model is kept")
                && error.contains("lower --rate"),
            "{error}"
        );
        assert!(!folder.path().join("warm").exists());
        let told = facts(&folder.path().join(name));
        assert!(
            told["taken"] == true && told["loss_after"] == "NaN" && told["loss"].is_f64(),
            "{told:#}"
        );
    }
}

#[test]
fn facts_that_cannot_be_written_are_still_reported() {
    let folder = tempfile::tempdir().unwrap();
    let model = flawed(folder.path());
    let data = folder.path().join("data.jsonl");
    std::fs::write(&data, example("9").repeat(4)).unwrap();
    let mut command = hotloop(&[
        "tune",
        "--device",
        "cpu",
        "--held-out",
        "0",
        "--out",
        "/dev/null/warm",
        "--data",
    ]);
    let (status, _, error) = ended(command.arg(&data).arg("--model").arg(&model));
    assert_eq!(status, 1, "{error}");
    assert!(
        error.contains("step 1 of 1: loss NaN") && error.contains("Nothing was written"),
        "{error}"
    );
}
