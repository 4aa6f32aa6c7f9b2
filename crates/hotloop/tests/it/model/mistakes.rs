//! Mistakes in run files, models and machines are named with a remedy.

use std::path::Path;
use std::process::Command;

use super::{fails, roomy, run_file, tiny};
use crate::{ended, hotloop};

#[test]
fn mistakes_of_a_run_are_named_with_file_and_key() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = folder.path().join("nowhere");
    let nowhere = nowhere.to_str().unwrap();
    let file = run_file(folder.path(), "colour = 3");
    fails(
        &["train", &file],
        1,
        &["tiny.toml", "colour", "no such key", "hint:"],
    );
    if !hotloop_policy::cuda::available() {
        let file = run_file(folder.path(), "device = \"cuda\"");
        fails(&["train", &file], 3, &["hint: choose the device cpu"]);
    }
    let file = run_file(folder.path(), "");
    fails(
        &["train", &file, "--set", "sampling.group=1"],
        1,
        &["--set", "sampling.group"],
    );
    fails(
        &["train", &file, "--set", "model=./none"],
        1,
        &["--set", "model", "./none", "hint:"],
    );
    fails(
        &["train", &file, "--set", "model=nanu"],
        1,
        &["model", "nanu", "hint:"],
    );
    fails(
        &["train", &file, "--set", "model=nano", "--set", "task=fft"],
        1,
        &["task", "was not trained on `fft`", "hint:"],
    );
    fails(
        &["train", &file, "--set", "model=http://127.0.0.1:9/v1"],
        1,
        &["names no model", "#NAME"],
    );
    fails(&["train", "missing.toml"], 1, &["missing.toml", "hint:"]);
    fails(
        &["train", "--resume", nowhere],
        1,
        &[
            "nowhere",
            "holds no run",
            "hint: `hotloop train RUN.toml` starts one",
        ],
    );
    fails(&["train"], 1, &["RUN.toml"]);
    fails(&["report", nowhere], 1, &["nowhere", "hint:"]);
    fails(&["experiment", "exp9"], 1, &["exp9", "exp1", "exp2"]);
    fails(
        &["experiment", "exp2", "--only", "O9"],
        1,
        &["O9", "--dry-run"],
    );
}

#[test]
fn an_incomplete_model_is_the_users_error() {
    let folder = tempfile::tempdir().unwrap();
    let model = roomy(folder.path());
    let ask = |more: &[&str]| {
        let ask = [
            "sample",
            "--device",
            "cpu",
            "--prompt",
            "hello",
            "--max-tokens",
            "2",
            "--model",
        ];
        let (status, _, error) = ended(hotloop(&ask).arg(&model).args(more));
        assert_eq!(status, 1, "{error}");
        error
    };
    let error = ask(&["--adapter", folder.path().to_str().unwrap()]);
    assert!(
        error.contains("adapter_config.json")
            && error.contains("hint: an adapter is a folder with"),
        "{error}"
    );
    let weights = model.join("model.safetensors");
    let sound = std::fs::read(&weights).unwrap();
    // The last tensor belongs to a norm that every value passes through.
    let broken = [&sound[..sound.len() - 4], &f32::NAN.to_le_bytes()].concat();
    std::fs::write(&weights, broken).unwrap();
    let error = ask(&[]);
    assert!(
        error.contains("logits are NaN") && error.contains("hint: download the model again"),
        "{error}"
    );
    std::fs::write(&weights, sound).unwrap();
    std::fs::remove_file(model.join("tokenizer_config.json")).unwrap();
    let error = ask(&[]);
    assert!(
        error.contains("no chat template: add `chat_template`"),
        "{error}"
    );
}

/// A driver that reports a GPU but offers nothing else of CUDA.
fn bare_driver(folder: &Path) {
    let source = folder.join("driver.c");
    std::fs::write(
        &source,
        "int cuInit(unsigned f){return 0;}int cuDeviceGetCount(int*n){*n=1;return 0;}",
    )
    .unwrap();
    let library = folder.join("libcuda.so");
    let built = Command::new("gcc")
        .args(["-shared", "-fPIC", "-o"])
        .arg(&library)
        .arg(&source)
        .status();
    assert!(built.unwrap().success());
}

#[test]
fn a_gpu_without_its_library_is_reported_although_the_cpu_answers() {
    let known = Command::new("/sbin/ldconfig")
        .arg("-p")
        .output()
        .map(|known| known.stdout)
        .unwrap_or_default();
    if String::from_utf8_lossy(&known).contains("libnvrtc") {
        eprintln!("skipped: this machine has libnvrtc");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    bare_driver(folder.path());
    let ask = |device: &str| {
        let ask = [
            "sample",
            "--prompt",
            "hello",
            "--max-tokens",
            "2",
            "--model",
            &tiny(),
            "--device",
            device,
        ];
        ended(hotloop(&ask).env("LD_LIBRARY_PATH", folder.path()))
    };
    let (status, _, error) = ask("auto");
    assert_eq!(status, 0, "{error}");
    assert!(
        error.contains("there is a GPU, but the CPU is used: libnvrtc.so was not found: install"),
        "{error}"
    );
    let (status, _, error) = ask("cuda");
    assert_eq!(status, 3, "{error}");
    assert!(error.contains("libnvrtc.so was not found"), "{error}");
    assert_eq!(ask("cpu").2, "");
}
