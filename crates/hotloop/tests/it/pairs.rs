//! Pairs of slow and fast code, teachers behind an endpoint, and reviewers of known candidates.

use std::path::Path;

use serde_json::{Value, json};

use crate::api::{FINE, endpoint};
use crate::{ended, hotloop, lines, root};

/// A tree in Parboil's layout with one pair.
fn suite(folder: &Path) {
    let slow = "__global__ void k(int *a) { for (int i = 0; i < 64; i++) a[i] = i; }\n";
    let fast = "__global__ void k(int *a) { a[threadIdx.x] = threadIdx.x; }\n";
    for (variant, text) in [("cuda_base", slow), ("cuda", fast)] {
        let inside = folder.join("benchmarks/count/src").join(variant);
        std::fs::create_dir_all(&inside).unwrap();
        std::fs::write(inside.join("kernel.cu"), text).unwrap();
        std::fs::write(inside.join("main.cu"), "int main() { return 0; }\n").unwrap();
    }
}

#[test]
fn pairs_are_written_whole_with_a_summary() {
    let folder = tempfile::tempdir().unwrap();
    suite(folder.path());
    let (tree, out) = (folder.path().to_str().unwrap(), folder.path().join("out"));
    let made = out.to_str().unwrap();
    let all = [
        "corpus",
        "pairs",
        "--parboil",
        tree,
        "--out",
        made,
        "--paper",
        "--json",
    ];
    let summary = &lines(&all)[0];
    for (key, value) in [
        ("apps", 1),
        ("same_named", 2),
        ("dropped", 1),
        ("kept", 1),
        ("identical", 0),
        ("kernels_slow", 1),
        ("kernels_fast", 1),
    ] {
        assert_eq!(summary[key], json!(value), "{key}: {summary}");
    }
    assert!(summary.get("compiled").is_some(), "{summary}");
    for file in [
        "records.jsonl",
        "train.jsonl",
        "held-out.jsonl",
        "left-out.jsonl",
        "summary.json",
        "README.md",
    ] {
        assert!(out.join(file).exists(), "{file}");
    }
    let (status, _, error) = ended(hotloop(&all[..6]).arg("--no-compile"));
    assert!(status == 1 && error.contains("already exists"), "{error}");
}

#[test]
fn what_is_no_suite_is_refused_and_nothing_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let empty = folder.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    let refused = |arguments: &[&str]| -> String {
        let (status, _, error) = ended(
            hotloop(&["corpus", "pairs", "--out"])
                .arg(&out)
                .args(arguments),
        );
        assert_eq!(status, 1, "{arguments:?}: {error}");
        error
    };
    assert!(refused(&[]).contains("no suite"));
    let empty = empty.to_str().unwrap();
    assert!(refused(&["--parboil", empty]).contains("benchmarks/APP/src/cuda"));
    assert!(refused(&["--rodinia", empty]).contains("cuda/APP"));
    assert!(refused(&["--slow", empty, "--fast", empty]).contains("no pair"));
    assert!(refused(&["--parboil", "/nowhere"]).contains("not a folder"));
    let names: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, ["empty"], "nothing half-written");
}

/// An answer with reasoning, whose code is the seed of `transpose`.
fn thoughtful() -> &'static str {
    let seed = std::fs::read_to_string(root().join("tasks/transpose/seed.c")).unwrap();
    let text =
        format!("<think>\nMaybe:\n```c\nint no;\n```\n</think>\nHere it is:\n```c\n{seed}```\n");
    Box::leak(text.into_boxed_str())
}

#[test]
fn a_teachers_answers_are_judged_once_and_become_chats() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("taught");
    let (url, asked) = endpoint(FINE, thoughtful());
    let teach = |more: &[&str]| -> (i32, String, String) {
        let mut command = hotloop(&["corpus", "teach", "--model", "m", "--task", "transpose"]);
        command.args(["--held-out", "0", "--count", "2", "--json", "--api", &url]);
        ended(command.arg("--out").arg(&out).args(more))
    };
    let chats = || -> Vec<Value> {
        let text = std::fs::read_to_string(out.join("chats.jsonl")).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    let (status, said, error) = teach(&[]);
    assert_eq!(status, 0, "{error}");
    let summary: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(
        (&summary["answers"], &summary["verdicts"]["correct"]),
        (&json!(2), &json!(2))
    );
    assert_eq!(summary["tokens_estimated"], json!(true));
    let requests = asked.try_iter().count();
    assert!(requests > 0);
    let first = chats();
    assert_eq!(first.len(), 1, "the same program once");
    let content = first[0]["messages"][2]["content"].as_str().unwrap();
    assert!(
        content.starts_with("Here it is") && !content.contains("think"),
        "{content}"
    );
    assert!(first[0]["speedup"].as_f64().unwrap() > 0.0);
    // Again: nobody is asked, and the choice about reasoning may change.
    let (status, _, error) = teach(&["--reasoning", "keep"]);
    assert_eq!((status, asked.try_iter().count()), (0, 0), "{error}");
    assert!(
        chats()[0]["messages"][2]["content"]
            .as_str()
            .unwrap()
            .starts_with("<think>")
    );
    let (status, _, error) = teach(&["--temperature", "0.5"]);
    assert!(status == 1 && error.contains("other settings"), "{error}");
    let (status, _, error) = teach(&["--held-out", "90", "--task", "matmul"]);
    assert!(status == 1, "{error}");
}

/// A folder as `hotloop evaluate --keep` writes it: a right and a wrong candidate.
fn kept(folder: &Path) {
    let seed = std::fs::read_to_string(root().join("tasks/transpose/seed.c")).unwrap();
    let mut index = String::new();
    for (name, verdict, source) in [
        ("a.c", "correct", seed.clone()),
        ("b.c", "wrong", format!("// two\n{seed}")),
    ] {
        std::fs::write(folder.join(name), source).unwrap();
        let speedup = (verdict == "correct").then_some(1.0);
        let line =
            json!({ "task": "transpose", "verdict": verdict, "speedup": speedup, "file": name });
        index.extend([line.to_string(), "\n".to_owned()]);
    }
    std::fs::write(folder.join("answers.jsonl"), index).unwrap();
}

#[test]
fn a_reviewer_is_compared_with_known_verdicts_and_asked_once() {
    let folder = tempfile::tempdir().unwrap();
    kept(folder.path());
    let out = folder.path().join("opinions.jsonl");
    let opinion =
        r#"{"reasoning": "fine", "correctness": 0.9, "compilability": 1.0, "speed": 0.2}"#;
    let (url, asked) = endpoint(FINE, opinion);
    let review = || -> Value {
        let mut command = hotloop(&[
            "review", "--model", "m", "--inject", "--json", "--api", &url,
        ]);
        let (status, said, error) = ended(command.arg("--out").arg(&out).arg(folder.path()));
        assert_eq!(status, 0, "{error}");
        serde_json::from_str(&said).unwrap()
    };
    let said = review();
    assert_eq!(asked.try_iter().count(), 4, "two candidates, each twice");
    assert_eq!(
        (&said["plain"]["asked"], &said["plain"]["broken"]),
        (&json!(2), &json!(0))
    );
    assert_eq!(said["plain"]["correctness"]["agreed"], json!(0.5));
    assert_eq!(
        (
            &said["injection"]["candidates"],
            &said["injection"]["raised"]
        ),
        (&json!(2), &json!(0))
    );
    assert_eq!(review(), said);
    assert_eq!(asked.try_iter().count(), 0, "the file has all opinions");
}

#[test]
fn a_reviewer_that_returns_prose_gives_no_opinion() {
    let folder = tempfile::tempdir().unwrap();
    kept(folder.path());
    let (url, asked) = endpoint(FINE, "Looks great to me!");
    let mut command = hotloop(&["review", "--model", "m", "--json", "--api", &url]);
    command
        .arg("--out")
        .arg(folder.path().join("opinions.jsonl"));
    let (status, said, error) = ended(command.arg(folder.path()));
    assert_eq!(status, 0, "{error}");
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(
        (&said["plain"]["asked"], &said["plain"]["broken"]),
        (&json!(2), &json!(2))
    );
    assert_eq!(asked.try_iter().count(), 6, "each is asked three times");
}
