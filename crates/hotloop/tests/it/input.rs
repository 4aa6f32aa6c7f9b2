//! Any input gives a verdict or a clear error, and never a crash.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::Value;

use crate::{ended, hotloop, lines};

/// Asserts that the command fails with `status` and one line that contains `words`, plus a hint if
/// there is one.
fn fails(command: &mut std::process::Command, status: i32, words: &[&str]) {
    let (got, out, error) = ended(command);
    assert_eq!(got, status, "{command:?}: {out}{error}");
    assert_eq!(out, "", "{command:?}: nothing on standard output");
    assert!(!error.contains("panicked"), "{error}");
    for word in words {
        assert!(
            error.contains(word),
            "{command:?} does not say `{word}`: {error}"
        );
    }
}

#[test]
fn user_errors_are_named_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path().to_str().unwrap();
    fails(
        &mut hotloop(&["judge", "matmul", "missing.c"]),
        1,
        &["hotloop: missing.c: No such file", "hint:"],
    );
    fails(
        &mut hotloop(&["judge", "matmul", here]),
        1,
        &["is a folder, not a file"],
    );
    fails(
        &mut hotloop(&["judge", "matmull"]),
        1,
        &["there is no task `matmull`", "hint:", "matmul-any"],
    );
    fails(
        &mut hotloop(&["judge", "./nowhere"]),
        1,
        &["task.toml", "hint:"],
    );
    fails(
        &mut hotloop(&["judge", "matmul", "--threads", "999"]),
        1,
        &["999 threads", "hint:"],
    );
    fails(
        &mut hotloop(&["judge", "matmul", "--threads", "0"]),
        1,
        &["--threads"],
    );
    fails(
        &mut hotloop(&["judge", "matmul", "--stage", "7"]),
        1,
        &["--stage"],
    );
    fails(
        &mut hotloop(&["judge", "matmul", "--reward", "gold"]),
        1,
        &["no such reward", "ladder-log"],
    );
    fails(
        &mut hotloop(&["judge", "matmul", "--cc", "/no/such/gcc"]),
        1,
        &["/no/such/gcc"],
    );
    fails(
        &mut hotloop(&["judge", "all", "mine.c"]),
        1,
        &["takes no files", "hint:"],
    );
    fails(&mut hotloop(&["jugde"]), 1, &["judge"]);
}

#[test]
fn a_task_that_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let task = folder.path().join("task");
    std::fs::create_dir(&task).unwrap();
    let name = task.to_str().unwrap();
    fails(&mut hotloop(&["judge", name]), 1, &["task.toml", "hint:"]);
    for file in ["reference.c", "prompt.md", "seed.c"] {
        std::fs::write(task.join(file), "").unwrap();
    }
    std::fs::write(task.join("task.toml"), "name = 3").unwrap();
    fails(&mut hotloop(&["judge", name]), 1, &["task.toml"]);
}

#[test]
fn a_bad_line_of_completions_is_named_by_its_number() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("answers.jsonl");
    let judge = |text: &str, words: &[&str]| {
        std::fs::write(&file, text).unwrap();
        fails(
            &mut hotloop(&["judge", "matmul", "--completions", file.to_str().unwrap()]),
            1,
            words,
        );
    };
    judge(
        "{\"completion\": \"x\"}\n\n{oops\n",
        &["answers.jsonl:3", "not JSON", "hint:"],
    );
    judge(
        "{\"completion\": \"x\"}\n[1]\n",
        &["answers.jsonl:2", "not a JSON object"],
    );
    judge("{\"text\": \"x\"}\n", &["answers.jsonl:1", "completion"]);
    judge("\n\n", &["no completions"]);
    fails(
        &mut hotloop(&["judge", "matmul", "--completions", "nowhere.jsonl"]),
        1,
        &["nowhere.jsonl", "hint:"],
    );
}

#[test]
fn a_machine_that_cannot_judge_says_how_to_fix_it() {
    let folder = tempfile::tempdir().unwrap();
    fails(
        hotloop(&["judge", "matmul"]).env("PATH", folder.path()),
        3,
        &["`gcc` was not found", "hint: apt-get"],
    );
    fails(
        hotloop(&["judge", "matmul"]).env("TMPDIR", "/no/such/folder"),
        3,
        &["working folder", "hint:", "TMPDIR"],
    );
    let (status, out, _) = ended(hotloop(&["doctor"]).env("PATH", folder.path()));
    assert_eq!(status, 3);
    assert!(
        out.contains("NEEDED") && out.contains("apt-get install -y gcc"),
        "{out}"
    );
}

#[test]
fn without_openblas_only_the_ratio_is_missing() {
    let (status, out, _) =
        ended(hotloop(&["judge", "matmul", "--json"]).env("HOTLOOP_OPENBLAS", "/no/such/library"));
    let line: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(status, 0);
    assert_eq!(line["verdict"], "correct");
    assert_eq!(line["openblas_ratio"], Value::Null);
    assert_eq!(line["machine"]["openblas"], Value::Null);
}

fn write(folder: &Path, name: &str, content: &[u8]) -> String {
    let path = folder.join(name);
    std::fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn anything_a_model_can_print_gets_a_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let signature = "void transpose(double *in, double *out, int M, int N)";
    let right = format!(
        "{signature} {{ for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) out[j * M + i] = in[i * N + j]; }}\n"
    );
    let nul = format!("{signature} {{ \0 }}");
    let odd = [b"// \xff\xfe\n".as_slice(), right.as_bytes()].concat();
    let big = [right.as_bytes(), &vec![b' '; 5 << 20]].concat();
    let endless = format!("{signature} {{ for (volatile int i = 0;;) i++; }}");
    let escape = format!("{signature} {{ \x1b[2J }}");
    let cases = [
        (write(folder.path(), "1-empty.c", b""), "malformed"),
        (write(folder.path(), "2-nul.c", nul.as_bytes()), "malformed"),
        (write(folder.path(), "3-odd.c", &odd), "correct"),
        (write(folder.path(), "4-big.c", &big), "malformed"),
        (write(folder.path(), "5-big.txt", &big), "malformed"),
        (
            write(folder.path(), "6-endless.c", endless.as_bytes()),
            "timed-out",
        ),
        (
            write(folder.path(), "7-escape.c", escape.as_bytes()),
            "not-compiled",
        ),
        (
            write(folder.path(), "8-prose.md", b"I am sorry."),
            "malformed",
        ),
    ];
    let mut arguments = vec!["judge", "transpose", "--json", "--limit", "0.5"];
    arguments.extend(cases.iter().map(|(file, _)| file.as_str()));
    let mut lines = lines(&arguments);
    lines.sort_by_key(|line| line["file"].as_str().unwrap().to_owned());
    for (line, (file, verdict)) in lines.iter().zip(&cases) {
        assert_eq!(
            (line["file"].as_str(), line["verdict"].as_str()),
            (Some(file.as_str()), Some(*verdict)),
            "{line}"
        );
    }
}

#[test]
fn a_file_without_permission_is_a_users_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "closed.c", b"int x;");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::File::open(&file).is_err() {
        fails(
            &mut hotloop(&["judge", "matmul", &file]),
            1,
            &["closed.c", "Permission denied"],
        );
    }
}

#[test]
fn lost_output_is_reported() {
    for arguments in [
        ["task", "list"].as_slice(),
        &["train", "--defaults"],
        &["judge", "transpose", "--json"],
    ] {
        let full = std::fs::File::create("/dev/full").unwrap();
        let _turn = crate::turn();
        let output = hotloop(arguments).stdout(full).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{arguments:?}: {error}");
        assert!(
            error.contains("standard output cannot be written: No space left"),
            "{arguments:?}: {error}"
        );
    }
}

/// The program under a limit on file sizes, in blocks of 512 bytes.
fn limited(how: &str, arguments: &[&str]) -> std::process::Command {
    let mut command = std::process::Command::new("sh");
    let script = format!("ulimit {how} && exec \"$0\" \"$@\"");
    command
        .args(["-c", &script, env!("CARGO_BIN_EXE_hotloop")])
        .args(arguments);
    command
}

#[test]
fn a_limit_on_the_size_of_files_is_reported_with_its_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let printed = std::fs::File::create(folder.path().join("printed")).unwrap();
    let output = limited("-f 1", &["train", "--defaults"])
        .stdout(printed)
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{error}");
    assert!(
        error.contains("standard output cannot be written: File too large")
            && error.contains("ulimit -f")
    );
    let path = folder.path().join("chats.jsonl");
    let chats = [
        "corpus",
        "chats",
        "--count",
        "20",
        "--out",
        path.to_str().unwrap(),
    ];
    fails(
        &mut limited("-f 1", &chats),
        1,
        &["chats.jsonl", "File too large", "ulimit -f"],
    );
    // The compiler's own limit exceeds the hard limit here. The soft limit leaves no room for
    // inputs.
    for how in ["-f 64", "-S -f 64"] {
        let (status, out, error) = ended(&mut limited(how, &["judge", "transpose"]));
        let said = format!("{out}{error}");
        assert!(
            status == 3 && said.contains("ulimit -f") && !said.contains("ended unexpectedly"),
            "{how}: {said}"
        );
    }
}
