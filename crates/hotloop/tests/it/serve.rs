//! `hotloop serve`: the real program with the real bench.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::{ended, hotloop, root, turn};

/// A running service that stops when this is dropped.
pub(crate) struct Service {
    child: Child,
    address: String,
}

impl Service {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let mut command = hotloop(&["serve", "--bind", "127.0.0.1:0", "--json"]);
        let mut child = command
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        let address = first["address"]
            .as_str()
            .unwrap()
            .trim_start_matches("http://")
            .to_owned();
        // Reads the rest of the log, so that the program never blocks on the pipe.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, address }
    }

    pub(crate) fn ask(&self, method: &str, path: &str, body: &str) -> (u16, Value) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n"
        );
        stream
            .write_all(format!("{head}{body}").as_bytes())
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (
            head.split(' ').nth(1).unwrap().parse().unwrap(),
            serde_json::from_str(body).unwrap_or(Value::Null),
        )
    }

    /// Asks it to stop and returns its exit status.
    fn stop(mut self) -> Option<i32> {
        std::process::Command::new("kill")
            .arg(self.child.id().to_string())
            .status()
            .unwrap();
        self.child.wait().unwrap().code()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[test]
fn candidates_are_judged_by_the_real_bench_and_prompts_feed_a_run() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let runs = folder.path().join("runs");
    let service = Service::start(&[
        "--task",
        "matmul",
        "--reward",
        "ladder",
        "--run-folder",
        runs.to_str().unwrap(),
    ]);
    let seed = std::fs::read_to_string(root().join("tasks/matmul/seed.c")).unwrap();
    let wrong = seed.replace("sum +=", "sum -=");
    let body = json!({"candidates": [{"source": seed}, {"source": wrong}, {"source": "int x;"}]});
    let (status, answer) = service.ask("POST", "/v1/judge", &body.to_string());
    assert_eq!(status, 200, "{answer}");
    let verdicts: Vec<&Value> = answer["judged"]
        .as_array()
        .unwrap()
        .iter()
        .map(|judged| &judged["verdict"])
        .collect();
    assert_eq!(verdicts, ["correct", "wrong", "malformed"]);
    assert_eq!(answer["judged"][0]["reward"], answer["judged"][0]["gflops"]);
    assert_eq!(answer["judged"][1]["reward"], -10.0);
    let foreign = json!({"run": "foreign", "task": "matmul"}).to_string();
    let (status, prompts) = service.ask("POST", "/v1/prompts", &foreign);
    assert_eq!(status, 200, "{prompts}");
    let body =
        json!({"candidates": [{"prompt_id": prompts["prompts"][0]["prompt_id"], "source": seed}]});
    assert_eq!(service.ask("POST", "/v1/judge", &body.to_string()).0, 200);
    assert_eq!(service.stop(), Some(130));
    let directory = runs.join("foreign");
    let (status, out, error) = {
        // This test holds the turn already.
        let output = hotloop(&["report", "--json", directory.to_str().unwrap()])
            .output()
            .unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (
            output.status.code(),
            text(output.stdout),
            text(output.stderr),
        )
    };
    assert_eq!(status, Some(0), "{error}");
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        report["runs"][0]["points"].as_array().unwrap().len(),
        1,
        "{report}"
    );
}

#[test]
fn what_would_let_strangers_in_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let check = |arguments: &[&str], said: &str| {
        let (status, _, error) = ended(
            hotloop(&["serve"])
                .args(arguments)
                .env_remove("HOTLOOP_TOKEN"),
        );
        assert_eq!(status, 1, "{arguments:?}: {error}");
        assert!(error.contains(said), "{arguments:?}: {error}");
        assert!(
            error.contains("hint: ") || error.contains("--help"),
            "{arguments:?}: {error}"
        );
    };
    check(&["--bind", "0.0.0.0:0"], "no token is set");
    check(&["--bind", "[::]:0"], "no token is set");
    check(&["--token-file", &file("short", "secret\n")], "at least 16");
    check(
        &["--token-file", &file("none", "# nothing\n\n")],
        "there is no token in it",
    );
    check(&["--task", "../matmul"], "there is no task");
    check(&["--set", "search.parent=3"], "search.parent");
    check(
        &[
            "--set",
            "reward={ shape = \"ladder-log\", low = 3.0, high = 1.0 }",
        ],
        "--set: reward.high: 1 is below low",
    );
    check(
        &[
            "--tls-cert",
            &file("cert", "no"),
            "--tls-key",
            &file("key", "no"),
        ],
        "cert",
    );
    check(&["--tls-cert", &file("cert", "no")], "--tls-key");
}
