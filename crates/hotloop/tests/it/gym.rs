//! `KernelGYM`'s evaluations by the real service, the real torch and the emulator of a GPU.
//!
//! Without a Python that has torch nothing is judged. With `HOTLOOP_KERNELGYM` naming a checkout of
//! `KernelGYM`, its own client asks as well.
#![expect(clippy::print_stdout, reason = "a test reports")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hotloop_bench::torch::{ModuleBench, trial};
use hotloop_bench::{LocalBench, Settings as BenchSettings};
use hotloop_flow::Bench;
use hotloop_serve::{Benches, Problems, Server, Settings};
use serde_json::{Value, json};

use crate::{ended, hotloop, root, turn};

/// Says to the test that its process was started with the emulator's libraries.
const EMULATED: &str = "HOTLOOP_TEST_EMULATED";

/// The Python that has torch: the one that `HOTLOOP_TEST_TORCH` names, or that of `.ci/python`.
fn python() -> Option<PathBuf> {
    let from = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let cache = || from("XDG_CACHE_HOME").or_else(|| Some(from("HOME")?.join(".cache")));
    let venv = || from("HOTLOOP_VENV").or_else(|| Some(cache()?.join("hotloop/python")));
    let python = from("HOTLOOP_TEST_TORCH").or_else(|| Some(venv()?.join("bin/python")))?;
    let asked = Command::new(&python)
        .args(["-c", "import importlib.metadata as m; m.version('torch')"])
        .output();
    let has_torch = asked.is_ok_and(|said| said.status.success());
    has_torch.then_some(python)
}

fn folder() -> PathBuf {
    root().join("crates/bench/tests/torch")
}

#[test]
fn modules_get_true_verdicts() {
    let Some(python) = python() else {
        println!("skipped: no Python with torch (`.ci/python prepare` installs one)");
        return;
    };
    if std::env::var_os(EMULATED).is_some() {
        return judged(&python);
    }
    // The emulator's libraries are found only by a process that starts with their path.
    let emulator = tempfile::tempdir().unwrap();
    let mut build = Command::new("sh");
    build
        .arg(root().join("crates/policy/tests/cuda_emulator/build.sh"))
        .arg(emulator.path());
    let (status, said, error) = ended(&mut build);
    assert_eq!(status, 0, "{said}{error}");
    let mut again = Command::new(std::env::current_exe().unwrap());
    again
        .args(["gym::modules_get_true_verdicts", "--exact", "--nocapture"])
        .env("LD_LIBRARY_PATH", emulator.path())
        .env("EMU_CLOCK", "1")
        .env("EMU_MEMORY", "1024")
        .env(EMULATED, "1");
    let _turn = turn();
    let output = again.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (said, error) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{said}{error}");
    println!("{said}");
}

/// The service within this process.
fn judged(python: &Path) {
    let problem = std::fs::read_to_string(folder().join("problems/scaled.py")).unwrap();
    let runs = tempfile::tempdir().unwrap();
    let mut settings = Settings::new([], runs.path().join("runs"));
    settings.problems = Some(Problems {
        texts: vec![problem.clone()],
        any: false,
    });
    let roles = PathBuf::from(env!("CARGO_BIN_EXE_hotloop"));
    let (of_tasks, of_python) = (BenchSettings::new(roles.clone()), python.to_owned());
    let benches = Benches {
        tasks: Box::new(move || {
            let mut settings = of_tasks.clone();
            settings.languages.clear();
            Ok(Box::new(LocalBench::start(settings)?) as Box<dyn Bench>)
        }),
        modules: Some(Box::new(move || {
            let judge = trial::judge(roles.clone(), &of_python)?;
            Ok(Box::new(ModuleBench::start(judge)?) as Box<dyn Bench>)
        })),
    };
    let listener = Arc::new(|notice: &hotloop_serve::Notice| println!("{notice}"));
    let server = Server::bind(settings, benches, listener).unwrap();
    let address = server.address();
    let stop = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&stop);
    let thread = std::thread::spawn(move || server.run(&asked));
    evaluated(address, &problem);
    by_its_own_client(python, address);
    stop.store(true, Ordering::Relaxed);
    thread.join().unwrap();
}

fn evaluated(address: SocketAddr, problem: &str) {
    for name in [
        "one-kernel",
        "half-of-it",
        "one-past-the-end",
        "torch-does-it",
        "right-for-small-inputs",
        "changes-its-input",
    ] {
        let path = folder().join("judged").join(format!("{name}.py"));
        let answer = std::fs::read_to_string(path).unwrap();
        let expected = answer.lines().next().unwrap();
        let label = expected.split(':').nth(1).unwrap().trim();
        let body = json!({"task_id": name, "reference_code": problem, "kernel_code": answer,
            "entry_point": "Model", "backend": "triton", "timeout": 600});
        let (status, mut told) = ask(address, "POST", "/evaluate", &body.to_string());
        assert_eq!(status, 200, "{name}: {told}");
        while told["status"] == "processing" {
            std::thread::sleep(std::time::Duration::from_secs(1));
            told = ask(address, "GET", &format!("/status/{name}"), "").1;
        }
        let told = ask(address, "GET", &format!("/results/{name}"), "").1;
        println!("{name}: {told}");
        assert_eq!(told["status"], "completed", "{name}: {told}");
        let verdict = told["metadata"]["verdict"].as_str().unwrap();
        let message = told["error_message"].as_str().unwrap_or_default();
        // An emulated GPU shares its processor with other processes, so that its clocks may disagree
        // about what is correct.
        let is_disturbed = label == "correct"
            && verdict == "suspect"
            && message.contains("the examiner's clock says");
        assert!(verdict == label || is_disturbed, "{name}: {told}");
        assert_eq!(told["decoy_kernel"], false);
        assert_eq!(told["correctness"], label == "correct", "{name}: {told}");
        assert_eq!(told["compiled"], label != "refused", "{name}: {told}");
        let number = |key: &str| told[key].as_f64().unwrap();
        if verdict == "correct" {
            let times = number("reference_runtime") / number("kernel_runtime");
            assert!((times - number("speedup")).abs() < 1e-6 * times, "{told}");
        } else {
            assert_eq!(number("speedup").to_bits(), 0, "{name}: {told}");
        }
    }
    let strange =
        json!({"task_id": "s", "reference_code": "class Model: pass", "kernel_code": "1"});
    assert_eq!(
        ask(address, "POST", "/evaluate", &strange.to_string()).0,
        404
    );
}

/// The client of a checkout, as it is.
fn by_its_own_client(python: &Path, address: SocketAddr) {
    let Some(checkout) = std::env::var_os("HOTLOOP_KERNELGYM") else {
        println!("skipped: HOTLOOP_KERNELGYM names no checkout of KernelGYM");
        return;
    };
    let output = Command::new(python)
        .arg(root().join("python/tests/kernelgym_client.py"))
        .arg(checkout)
        .arg(format!("http://{address}"))
        .arg(folder())
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (said, error) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{said}{error}");
    println!("{said}");
}

fn ask(address: SocketAddr, method: &str, path: &str, body: &str) -> (u16, Value) {
    let mut stream = TcpStream::connect(address).unwrap();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let request = format!("{head}{body}");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, serde_json::from_str(body).unwrap_or(Value::Null))
}

#[test]
fn a_service_that_cannot_judge_modules_does_not_start() {
    let (status, _, said) = ended(&mut hotloop(&["serve", "--any-problem"]));
    assert_eq!(status, 1, "{said}");
    assert!(said.contains("--token-file"), "{said}");
    let nowhere = tempfile::tempdir().unwrap();
    let mut empty = hotloop(&["serve", "--problems"]);
    let (status, _, said) = ended(empty.arg(nowhere.path()));
    assert_eq!(status, 1, "{said}");
    assert!(said.contains("holds no Python files"), "{said}");
    let mut torchless = hotloop(&["serve", "--python", "/nowhere/python", "--problems"]);
    let (status, _, said) = ended(torchless.arg(folder().join("problems")));
    assert_eq!(status, 1, "{said}");
    assert!(said.contains("no Python with torch"), "{said}");
}
