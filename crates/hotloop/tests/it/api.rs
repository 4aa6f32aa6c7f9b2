//! Models behind an endpoint on this machine, with both protocols. The tests next to
//! `api.rs` in `policy` cover bad endpoints.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::mpsc::{Receiver, Sender, channel};

use serde_json::{Value, json};

use crate::{ended, hotloop, lines};

/// A request: its path and its body.
pub(crate) type Asked = (String, Value);

/// An endpoint that answers every request with the same reply until the test's process ends, and
/// the requests that it gets.
pub(crate) fn endpoint(head: &'static str, text: &'static str) -> (String, Receiver<Asked>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let (sender, asked) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().filter_map(Result::ok) {
            // A client that disconnects early is not a failure here.
            drop(answer(&stream, head, text, &sender));
        }
    });
    (url, asked)
}

fn answer(
    mut stream: &TcpStream,
    head: &str,
    text: &str,
    asked: &Sender<Asked>,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let (mut path, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        match line.trim_end().to_lowercase() {
            line if line.is_empty() => break,
            line if line.starts_with("post ") => line
                .split(' ')
                .nth(1)
                .unwrap_or_default()
                .clone_into(&mut path),
            line => {
                length = line
                    .strip_prefix("content-length: ")
                    .map_or(length, |n| n.parse().unwrap());
            }
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let body: Value = serde_json::from_slice(&body)?;
    let choice = match body.get("messages") {
        Some(_) => {
            json!({"message": {"role": "assistant", "content": text}, "finish_reason": "stop"})
        }
        None => json!({"text": text, "finish_reason": "stop"}),
    };
    let reply =
        json!({"choices": vec![choice; body["n"].as_u64().unwrap_or(1) as usize]}).to_string();
    drop(asked.send((path, body)));
    write!(
        stream,
        "HTTP/1.1 {head}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{reply}",
        reply.len()
    )
}

pub(crate) const FINE: &str = "200 OK";
/// The code after the signature of `transpose`.
const RIGHT: &str =
    "for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) out[j * M + i] = in[i * N + j];\n}\n";

#[test]
fn an_address_that_ends_in_completions_gets_a_text_that_begins_the_answer() {
    let (url, asked) = endpoint(FINE, RIGHT);
    let ask = |url: &str| {
        lines(&[
            "sample",
            "--api",
            url,
            "--model",
            "m",
            "--task",
            "transpose",
            "--stage",
            "1",
            "--json",
        ])
    };
    let answers = ask(&format!("{url}/completions"));
    let (path, body) = asked.recv().unwrap();
    let prompt = body["prompt"].as_str().unwrap();
    assert_eq!(
        (path.as_str(), &body["stop"]),
        ("/v1/completions", &json!(["```"]))
    );
    let begun = &prompt[prompt.rfind("\n```c\n").unwrap() + 1..];
    assert!(begun.contains("void transpose("), "{begun}");
    assert_eq!(answers[0]["completion"], format!("{begun}{RIGHT}"));
    // The chat does not begin the answer, because few servers could continue it.
    for url in [url.clone(), format!("{url}/chat/completions")] {
        let answers = ask(&url);
        let (path, body) = asked.recv().unwrap();
        let last = body["messages"]
            .as_array()
            .and_then(|all| all.last())
            .unwrap();
        assert_eq!(
            (path.as_str(), &last["role"]),
            ("/v1/chat/completions", &json!("user"))
        );
        assert_eq!(answers[0]["completion"], RIGHT);
    }
}

#[test]
fn a_chat_over_completions_is_a_growing_text() {
    let (url, asked) = endpoint(FINE, "four");
    let url = format!("{url}/completions");
    let mut chat = hotloop(&["chat", "--api", &url, "--model", "m", "--system", "Add."])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    chat.stdin
        .take()
        .unwrap()
        .write_all(b"2 + 2 =\n3 + 1 =\n")
        .unwrap();
    let output = chat.wait_with_output().unwrap();
    assert!(
        output.status.success() && output.stdout == b"four\nfour\n",
        "{output:?}"
    );
    let prompts: Vec<Value> = asked
        .try_iter()
        .map(|(_, body)| body["prompt"].clone())
        .collect();
    assert_eq!(prompts, ["Add.\n2 + 2 =", "Add.\n2 + 2 =\nfour\n3 + 1 ="]);
}

/// A run of one step with that model.
fn run_file(folder: &Path, model: &str) -> PathBuf {
    let file = folder.join("api.toml");
    let text = format!(
        "model = \"{model}\"\ntask = \"transpose\"\ndirectory = \"{}\"\n\
         [budget]\nsteps = 1\n[sampling]\ngroup = 2\n[loop]\nprobe = 0\n",
        folder.join("run").display()
    );
    std::fs::write(&file, text).unwrap();
    file
}

#[test]
fn runs_and_evaluations_also_use_completions() {
    let (url, asked) = endpoint(FINE, RIGHT);
    let folder = tempfile::tempdir().unwrap();
    let model = format!("{url}/completions#m");
    let told = lines(&[
        "evaluate",
        "--model",
        &model,
        "--task",
        "transpose",
        "--stage",
        "1",
        "--count",
        "2",
        "--json",
    ]);
    assert_eq!(
        (&told[0]["answers"], &told[0]["verdicts"]["correct"]),
        (&json!(2), &json!(2)),
        "{told:?}"
    );
    let file = run_file(folder.path(), &model);
    let (status, out, error) = ended(hotloop(&["train"]).arg(&file));
    assert!(status == 0 && out.contains("correct 100 %"), "{out}{error}");
    let all: Vec<Asked> = asked.try_iter().collect();
    assert!(all.len() >= 2);
    for (path, body) in all {
        assert_eq!(
            (path.as_str(), &body["model"]),
            ("/v1/completions", &json!("m"))
        );
        assert!(body["prompt"].as_str().unwrap().contains("void transpose("));
    }
}

#[test]
fn a_request_limit_is_set_by_flag_or_environment() {
    let (url, asked) = endpoint(FINE, "four");
    let ask = |more: &[&str], limit: &str| {
        let mut command = hotloop(&[
            "sample", "--api", &url, "--model", "m", "--prompt", "2 + 2 =", "--count", "3",
        ]);
        ended(command.args(more).env("HOTLOOP_API_PER_MINUTE", limit))
    };
    for wrong in ["none", "0", "-3"] {
        let (status, _, error) = ask(&[], wrong);
        assert!(
            status == 1 && error.contains("HOTLOOP_API_PER_MINUTE") && error.contains("hint:"),
            "{error}"
        );
    }
    assert_eq!(ask(&["--api-per-minute", "0"], "").0, 1);
    assert_eq!(asked.try_iter().count(), 0);
    // The flag overrides the environment.
    for (more, limit) in [
        (&["--api-per-minute", "6000"][..], "none"),
        (&[], "6000"),
        (&[], ""),
    ] {
        assert_eq!(ask(more, limit).0, 0);
    }
    assert_eq!(asked.try_iter().count(), 3);
}

#[test]
fn an_endpoint_with_too_many_requests_leads_to_a_hint() {
    let (url, asked) = endpoint("429 Too Many Requests\r\nRetry-After-Ms: 10", "");
    let (status, _, error) = ended(&mut hotloop(&[
        "sample", "--api", &url, "--model", "m", "--prompt", "hi",
    ]));
    assert_eq!((status, asked.try_iter().count()), (3, 5), "{error}");
    assert!(
        error.contains("5 tries, the last: status 429")
            && error.contains("HOTLOOP_API_PER_MINUTE=N"),
        "{error}"
    );
    let folder = tempfile::tempdir().unwrap();
    let file = run_file(folder.path(), &format!("{url}#m"));
    let (status, _, error) = ended(hotloop(&["train"]).arg(&file));
    assert_eq!(status, 3, "{error}");
    assert!(
        error.contains("HOTLOOP_API_PER_MINUTE=N") && error.contains("hotloop train --resume"),
        "{error}"
    );
}
