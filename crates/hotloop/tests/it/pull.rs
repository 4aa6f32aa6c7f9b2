//! `hotloop model pull` with a hub on this machine. The tests next to `hub.rs` in `policy` cover
//! bad connections.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::{ended, hotloop, root};

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// Serves the files of a folder as the model `a/b` until the test's process ends. Returns the
/// address.
fn hub(folder: PathBuf) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().filter_map(Result::ok) {
            drop(answer(&stream, &folder));
        }
    });
    endpoint
}

fn answer(mut stream: &TcpStream, folder: &Path) -> std::io::Result<()> {
    let head = BufReader::new(stream)
        .lines()
        .take_while(|line| line.as_ref().is_ok_and(|line| !line.is_empty()));
    let head = head.collect::<Result<Vec<String>, _>>()?;
    let path = head[0].split(' ').nth(1).unwrap_or_default();
    let listed = || {
        let entries = std::fs::read_dir(folder)
            .ok()?
            .filter_map(Result::ok)
            .enumerate();
        let entry = |(nth, entry): (usize, std::fs::DirEntry)| {
            let size = entry.metadata().unwrap().len();
            json!({"rfilename": entry.file_name().to_str(), "size": size, "blobId": format!("{nth:040x}")})
        };
        Some(
            json!({"sha": COMMIT, "siblings": entries.map(entry).collect::<Vec<Value>>()})
                .to_string()
                .into_bytes(),
        )
    };
    let file =
        || std::fs::read(folder.join(path.strip_prefix(&format!("/a/b/resolve/{COMMIT}/"))?)).ok();
    let body = if path.starts_with("/api/models/a/b/") {
        listed()
    } else {
        file()
    };
    let (status, body) = body.map_or((404, Vec::new()), |body| (200, body));
    write!(
        stream,
        "HTTP/1.1 {status} Here\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    )?;
    stream.write_all(&body)
}

/// The program with its own hub and cache.
fn with(arguments: &[&str], endpoint: &str, cache: &Path) -> Command {
    let mut command = hotloop(arguments);
    command
        .env("HF_ENDPOINT", endpoint)
        .env("HF_HUB_CACHE", cache)
        .env_remove("HF_TOKEN");
    command
}

fn tiny() -> PathBuf {
    root().join("crates/policy/tests/fixtures/tiny.gguf")
}

#[test]
fn a_pulled_model_answers_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let (model, cache) = (folder.path().join("model"), folder.path().join("cache"));
    let mut made = hotloop(&["model", "convert"]);
    assert_eq!(ended(made.arg(tiny()).arg(&model)).0, 0);
    let endpoint = hub(model);
    let (status, said, error) = ended(&mut with(
        &["model", "pull", "a/b", "--json"],
        &endpoint,
        &cache,
    ));
    assert_eq!(status, 0, "{error}");
    let pulled: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(pulled["commit"], COMMIT);
    assert!(
        pulled["files"]
            .as_array()
            .unwrap()
            .contains(&json!("model.safetensors")),
        "{said}"
    );
    let nowhere = "http://127.0.0.1:1";
    let asked = [
        "sample",
        "--model",
        "a/b",
        "--prompt",
        "abc",
        "--max-tokens",
        "2",
    ];
    let (status, _, error) = ended(&mut with(&asked, nowhere, &cache));
    assert_eq!(status, 0, "{error}");
    let (status, said, error) = ended(&mut with(&["model", "pull", "a/b"], nowhere, &cache));
    assert_eq!(
        (status, said.trim()),
        (0, pulled["path"].as_str().unwrap()),
        "{error}"
    );
    assert!(error.contains("cannot be reached"), "{error}");
}

#[test]
fn one_file_goes_to_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let (there, to) = (folder.path().join("there"), folder.path().join("to"));
    std::fs::create_dir(&there).unwrap();
    std::fs::copy(tiny(), there.join("tiny.gguf")).unwrap();
    let endpoint = hub(there);
    let pull = ["model", "pull", "a/b", "--to", to.to_str().unwrap()];
    let (status, _, error) = ended(&mut with(&pull, &endpoint, folder.path()));
    assert!(
        status == 1 && error.contains("--file: tiny.gguf"),
        "{error}"
    );
    let named = [&pull[..], &["--file", "tiny.gguf"]].concat();
    let (status, said, error) = ended(&mut with(&named, &endpoint, folder.path()));
    assert_eq!(
        (status, said.trim()),
        (0, to.join("tiny.gguf").to_str().unwrap()),
        "{error}"
    );
    assert_eq!(
        std::fs::read(to.join("tiny.gguf")).unwrap(),
        std::fs::read(tiny()).unwrap()
    );
}

#[test]
fn a_model_that_cannot_be_pulled_is_reported_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("README.md"), "nothing").unwrap();
    let endpoint = hub(folder.path().to_owned());
    let nowhere = "http://127.0.0.1:1";
    let cases: [(&[&str], &str, i32, &str); 5] = [
        (&["a/b"], &endpoint, 1, "model.safetensors"),
        (
            &["a/b", "--file", "x.gguf"],
            &endpoint,
            1,
            "it has README.md",
        ),
        (&["a/none"], &endpoint, 1, "has no a/none"),
        (&["nobody/nothing"], nowhere, 3, "--to DIR"),
        (&["no-name"], nowhere, 1, "OWNER/NAME"),
    ];
    for (arguments, endpoint, status, word) in cases {
        let all = [&["model", "pull"], arguments].concat();
        let (got, _, error) = ended(&mut with(&all, endpoint, &folder.path().join("cache")));
        assert_eq!(got, status, "{arguments:?}: {error}");
        assert!(
            error.contains(word) && error.contains("hint:"),
            "{arguments:?} does not say `{word}`: {error}"
        );
    }
}
