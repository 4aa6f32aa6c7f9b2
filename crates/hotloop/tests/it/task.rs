//! Sound tasks pass the linter. Others do not.

use std::path::Path;

use crate::{ended, hotloop, root};

#[test]
fn shipped_tasks_are_sound() {
    let (status, out, error) = ended(&mut hotloop(&["task", "check", "matmul-any", "transpose"]));
    assert_eq!(status, 0, "{out}{error}");
    // A busy machine can make a seed slow.
    let mut findings = out
        .lines()
        .filter(|line| !line.contains("the size fits timing badly"));
    assert!(
        !findings.any(|line| line.starts_with("warn") || line.starts_with("ERROR")),
        "{out}"
    );
}

/// A copy of matvec with some of its text replaced.
fn spoilt(folder: &Path, file: &str, from: &str, to: &str) -> String {
    let task = folder.join("task");
    std::fs::create_dir_all(&task).unwrap();
    for entry in std::fs::read_dir(root().join("tasks/matvec")).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), task.join(entry.file_name())).unwrap();
    }
    let text = std::fs::read_to_string(task.join(file)).unwrap();
    assert!(text.contains(from), "{file} has no `{from}`");
    std::fs::write(task.join(file), text.replace(from, to)).unwrap();
    task.to_str().unwrap().to_owned()
}

fn refused(file: &str, from: &str, to: &str, words: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let task = spoilt(folder.path(), file, from, to);
    let (status, out, error) = ended(&mut hotloop(&["task", "check", &task]));
    assert_eq!(status, 1, "{out}{error}");
    for word in words {
        assert!(out.contains(word), "does not say `{word}`: {out}{error}");
    }
    assert!(error.contains("not sound: matvec"), "{error}");
}

#[test]
fn a_bound_that_admits_single_precision_is_refused() {
    refused(
        "task.toml",
        "bound = \"2*N + 8\"",
        "bound = \"1000000000*N\"",
        &["ERROR  single precision", "too loose"],
    );
}

#[test]
fn hidden_sizes_that_end_at_the_timed_one_are_refused() {
    let text = std::fs::read_to_string(root().join("tasks/matvec/task.toml")).unwrap();
    let begin = text.find("hidden = [").unwrap();
    let end = begin + text[begin..].find("\n]").unwrap();
    refused(
        "task.toml",
        &text[begin..end],
        "hidden = [{ M = 1, N = 1001 }, { M = 512, N = 517 }",
        &["ERROR  hidden sizes", "none has M above 512, the timed one"],
    );
}

#[test]
fn a_task_whose_answer_is_always_zero_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let zero = "x[0] > 5 ? 1 : 0";
    let task = spoilt(
        folder.path(),
        "seed.c",
        "void matvec",
        "#define matvec unused\nvoid matvec",
    );
    let args = "(double *A, double *x, double *y, int M, int N)";
    let path = Path::new(&task);
    std::fs::write(
        path.join("seed.c"),
        format!("void matvec{args} {{ for (int i = 0; i < M; i++) y[i] = {zero}; }}\n"),
    )
    .unwrap();
    let reference = format!(
        "void reference(const double *A, const double *x, double *y, double *y_scale, int M, int N) {{\n\
         for (int i = 0; i < M; i++) y[i] = {zero}, y_scale[i] = 1; }}\n"
    );
    std::fs::write(path.join("reference.c"), reference).unwrap();
    std::fs::remove_file(path.join("baseline.c")).unwrap();
    let toml = std::fs::read_to_string(path.join("task.toml"))
        .unwrap()
        .replace("baseline = \"openblas\"\n", "");
    // An empty answer is timed in large batches, and every call needs drawn inputs. Small inputs
    // are enough.
    let toml = toml.replace("timed = { M = 512, N = 768 }", "timed = { M = 64, N = 48 }");
    std::fs::write(path.join("task.toml"), toml).unwrap();
    let (status, out, error) = ended(&mut hotloop(&["task", "check", &task]));
    assert_eq!(status, 1, "{out}{error}");
    assert!(
        out.contains("ERROR  zeros") && out.contains("ERROR  answer of the last call"),
        "{out}"
    );
}

#[test]
fn a_seed_that_is_wrong_and_a_reference_that_does_not_compile_are_refused() {
    refused("seed.c", "+=", "-=", &["ERROR  seed"]);
    refused(
        "reference.c",
        "void reference",
        "oops reference",
        &["ERROR  build", "reference.c does not compile"],
    );
}

#[test]
fn a_machine_that_cannot_judge_gives_an_error_and_no_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let task = spoilt(
        folder.path(),
        "reference.c",
        "void reference",
        "oops reference",
    );
    let (status, out, error) = ended(&mut hotloop(&["judge", &task, "--json"]));
    assert_eq!((status, error.as_str()), (3, ""), "{out}");
    let line: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert!(
        line["error"]
            .as_str()
            .unwrap()
            .contains("reference.c does not compile"),
        "{line}"
    );
    assert!(
        line["verdict"].is_null() && line["reward"].is_null(),
        "{line}"
    );
    let (status, out, _) = ended(&mut hotloop(&["judge", &task]));
    assert_eq!(status, 3);
    assert!(
        out.contains("no verdict") && out.contains("the machine failed"),
        "{out}"
    );
}

#[test]
fn tasks_are_listed_and_shown() {
    let (status, out, _) = ended(&mut hotloop(&["task", "list"]));
    assert_eq!(status, 0);
    assert!(
        out.contains("stencil2d") && out.contains("void spmv("),
        "{out}"
    );
    let (status, out, _) = ended(&mut hotloop(&["task", "show", "fft"]));
    assert_eq!(status, 0);
    assert!(
        out.contains("void fft(double *in, double *out, int N)") && out.contains("The prompt:"),
        "{out}"
    );
}

#[test]
fn generated_tasks_are_sound() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("tasks");
    let generate = || {
        let mut command = hotloop(&[
            "task", "generate", "--count", "6", "--seed", "4", "--json", "--out",
        ]);
        command.arg(&out);
        command
    };
    let (status, said, error) = ended(&mut generate());
    assert_eq!(status, 0, "{error}");
    let folders: Vec<String> = said
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|line| line["folder"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(folders.len(), 6, "one of each family");
    let (status, said, error) = ended(hotloop(&["task", "check"]).args(&folders));
    assert_eq!(status, 0, "{said}\n{error}");
    let (status, _, error) = ended(&mut generate());
    assert_eq!(status, 1);
    assert!(error.contains("exists already"), "{error}");
}
