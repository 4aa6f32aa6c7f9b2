//! What `hotloop judge` prints.

use std::process::Stdio;

use serde_json::Value;

use crate::{ended, hotloop, lines};

const RIGHT: &str = "void transpose(double *in, double *out, int M, int N) {
    for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) out[j * M + i] = in[i * N + j];
}
";

#[test]
fn the_seed_has_every_key_of_the_format() {
    let lines = lines(&["judge", "matmul", "--json"]);
    assert_eq!(lines.len(), 1);
    let line = &lines[0];
    assert_eq!(line["file"], "seed.c");
    assert_eq!(line["task"], "matmul");
    assert_eq!(line["verdict"], "correct", "{line}");
    assert_eq!(line["detail"], "");
    assert_eq!(line["language"], "c");
    let speeds = [
        "reward",
        "seconds_per_call",
        "gflops",
        "gflops_paper",
        "peak_fraction",
    ];
    for key in speeds {
        assert!(
            line[key].as_f64().is_some_and(|value| value > 0.0),
            "{key}: {line}"
        );
    }
    assert!(line.as_object().unwrap().contains_key("openblas_ratio"));
    let baseline = line.get("baseline").expect("the key is always there");
    if baseline.is_object() {
        assert_eq!(baseline["name"], "OpenBLAS");
        let ratio =
            baseline["seconds"].as_f64().unwrap() / line["seconds_per_call"].as_f64().unwrap();
        assert!((ratio - line["openblas_ratio"].as_f64().unwrap()).abs() < 1e-9);
    }
    let verify = &line["verify"];
    assert!(
        verify["paper"].is_boolean() && verify["strict"] == true && verify["error"].is_number(),
        "{verify}"
    );
    let timing = &line["timing"];
    for key in ["median_s", "min_s", "cv", "samples", "kept"] {
        assert!(timing[key].is_number(), "{key}: {timing}");
    }
    assert!(timing["quiet"].is_boolean());
    for key in [
        "class", "cpu", "simd", "cores", "kernel", "compiler", "openblas", "sandbox",
    ] {
        assert!(
            line["machine"].as_object().unwrap().contains_key(key),
            "{key}"
        );
    }
    for key in ["compile", "run", "total"] {
        assert!(line["seconds"][key].is_number(), "{key}");
    }
    assert!(line["notes"].is_array());
    assert!(line.get("error").is_none());
}

#[test]
fn a_task_without_operations_has_every_key_and_rewards_relative_to_its_seed() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../bench/tests/tasks/reverse");
    let lines = lines(&["judge", folder, "--json"]);
    let line = &lines[0];
    assert_eq!(line["verdict"], "correct", "{line}");
    for key in [
        "gflops",
        "gflops_paper",
        "peak_fraction",
        "openblas_ratio",
        "baseline",
    ] {
        assert_eq!(line.get(key), Some(&Value::Null), "{key}: {line}");
    }
    assert!(line["seconds_per_call"].as_f64().unwrap() > 0.0);
    // The seed compared with itself, timed twice.
    let reward = line["reward"].as_f64().unwrap();
    assert!((0.2..5.0).contains(&reward), "{reward}");
    let (status, out, _) = ended(&mut hotloop(&["judge", folder]));
    assert!(status == 0 && !out.contains("GFLOPS"), "{out}");
}

#[test]
fn the_expected_signature_is_shown_in_full() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("empty.c");
    std::fs::write(&file, "").unwrap();
    let (_, out, error) = ended(&mut hotloop(&["judge", "matmul", file.to_str().unwrap()]));
    let wanted = "`void matmul_optimized(double *A, double *B, double *C, int M, int N, int K)`\n";
    assert!(out.contains(wanted), "{out}{error}");
}

#[test]
fn a_failure_has_the_same_keys_without_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("zeros.c");
    std::fs::write(
        &file,
        "void transpose(double *in, double *out, int M, int N) { for (int i = 0; i < M * N; i++) out[i] = 0; }",
    )
    .unwrap();
    let lines = lines(&["judge", "transpose", "--json", file.to_str().unwrap()]);
    let line = &lines[0];
    assert_eq!(line["verdict"], "wrong");
    assert_eq!(line["reward"], -10.0);
    assert_eq!(line["gflops"], Value::Null);
    assert_eq!(line["timing"], Value::Null);
    assert_eq!(line["verify"]["strict"], false);
    assert!(line["detail"].as_str().unwrap().contains("out["), "{line}");
}

#[test]
fn the_table_is_in_input_order_with_details_below() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("bad.c"),
        "void transpose(double *in, double *out, int M, int N) { oops }",
    )
    .unwrap();
    std::fs::write(folder.path().join("good.c"), RIGHT).unwrap();
    let (status, out, error) = ended(
        hotloop(&["judge", "transpose", "good.c", "bad.c", "good.c"]).current_dir(folder.path()),
    );
    assert_eq!((status, error.as_str()), (0, ""), "{out}");
    let rows: Vec<&str> = out.lines().skip(1).take(5).collect();
    assert!(
        rows[0].starts_with("good.c") && rows[0].contains("correct"),
        "{out}"
    );
    assert!(
        rows[1].starts_with("bad.c") && rows[1].contains("not-compiled"),
        "{out}"
    );
    assert!(
        rows[2].starts_with("    ") && rows[2].contains("oops"),
        "{out}"
    );
    assert!(rows[4].starts_with("good.c"), "{out}");
}

#[test]
fn the_best_reward_of_a_group_is_a_hundred() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("good.c");
    std::fs::write(&file, RIGHT).unwrap();
    let file = file.to_str().unwrap();
    let lines = lines(&[
        "judge",
        "transpose",
        "--json",
        "--reward",
        "ladder-group",
        "--repeat",
        "2",
        file,
    ]);
    let rewards: Vec<f64> = lines
        .iter()
        .map(|line| line["reward"].as_f64().unwrap())
        .collect();
    assert_eq!(
        lines
            .iter()
            .map(|line| line["round"].as_u64().unwrap())
            .collect::<Vec<_>>(),
        [1, 2]
    );
    assert!(
        (rewards.iter().copied().fold(0.0, f64::max) - 100.0).abs() < 1e-9,
        "{rewards:?}"
    );
}

#[test]
fn rewards_against_the_seed_and_the_roof_are_finite() {
    for shape in ["ladder-log", "sol"] {
        let lines = lines(&["judge", "transpose", "--json", "--reward", shape]);
        assert!(
            lines[0]["reward"]
                .as_f64()
                .is_some_and(|reward| reward > 0.0),
            "{shape}: {}",
            lines[0]
        );
    }
}

#[test]
fn source_comes_from_standard_input_and_answers_from_text() {
    let _turn = crate::turn();
    let mut child = hotloop(&["judge", "transpose", "--json", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), RIGHT.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let line: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&line["file"], &line["verdict"]),
        (&Value::from("-"), &Value::from("correct"))
    );
}

#[test]
fn completions_are_repaired_counted_and_judged() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("answers.jsonl");
    let completions = [
        format!("Sure, here it is:\n```c\n{RIGHT}```\nIt is fast."),
        format!("```c\nint first;\n```\nBetter:\n```c\n{RIGHT}int main(void) {{ return 0; }}\n```"),
        "I cannot do that.".to_owned(),
        format!("Sure, here it is:\n```c\n{RIGHT}```\nIt is fast."),
    ];
    let text: Vec<String> = completions
        .iter()
        .enumerate()
        .map(|(index, text)| {
            serde_json::json!({"completion": text, "prompt": if index < 2 { "a" } else { "b" }})
                .to_string()
        })
        .collect();
    std::fs::write(&file, text.join("\n\n")).unwrap();
    let file = file.to_str().unwrap();
    let mut lines = lines(&["judge", "transpose", "--json", "--completions", file]);
    lines.sort_by_key(|line| line["file"].as_str().unwrap().to_owned());
    let verdicts: Vec<&str> = lines
        .iter()
        .map(|line| line["verdict"].as_str().unwrap())
        .collect();
    assert_eq!(verdicts, ["correct", "correct", "malformed", "correct"]);
    assert!(
        lines[1]["file"]
            .as_str()
            .unwrap()
            .ends_with("answers.jsonl:3"),
        "line numbers count empty lines"
    );
    assert_eq!(lines[0]["carried"]["prompt"], "a");
    let (status, out, _) = ended(&mut hotloop(&["judge", "transpose", "--completions", file]));
    assert_eq!(status, 0);
    assert!(
        out.starts_with("verdict    count  share  a  b\nmalformed      1   25 %  0  1\n"),
        "{out}"
    );
    assert!(
        out.contains("Best: ") && out.contains("3 with a candidate, 2 of them distinct"),
        "{out}"
    );
}

#[test]
fn without_landlock_and_namespaces_it_judges_and_says_so() {
    let lines = lines(&[
        "judge",
        "transpose",
        "--json",
        "--without",
        "landlock",
        "--without",
        "namespaces",
    ]);
    assert_eq!(lines[0]["verdict"], "correct", "{}", lines[0]);
    let layers = lines[0]["machine"]["sandbox"].to_string();
    assert!(
        !layers.contains("landlock")
            && !layers.contains("namespaces")
            && layers.contains("seccomp"),
        "{layers}"
    );
}

#[test]
fn a_stage_refuses_what_it_forbids() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("simd.c");
    std::fs::write(
        &file,
        format!("#include <immintrin.h>\nstatic __m256d unused;\n{RIGHT}"),
    )
    .unwrap();
    let lines = lines(&[
        "judge",
        "transpose",
        "--json",
        "--stage",
        "1",
        file.to_str().unwrap(),
    ]);
    assert_eq!(lines[0]["verdict"], "refused", "{}", lines[0]);
}

#[test]
fn doctor_says_whether_candidates_can_be_judged() {
    let (status, out, error) = ended(&mut hotloop(&["doctor", "--json"]));
    assert_eq!((status, error.as_str()), (0, ""), "{out}");
    let diagnosis: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(diagnosis["can_judge"], true);
    assert!(diagnosis["quiet"].is_boolean());
    assert!(
        diagnosis["noise"][0]["null_s"]
            .as_f64()
            .is_some_and(|seconds| seconds > 0.0)
    );
    let about: Vec<&str> = diagnosis["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["about"].as_str().unwrap())
        .collect();
    for wanted in [
        "kernel",
        "CPU",
        "cores",
        "gcc",
        "clang",
        "OpenBLAS",
        "GPU",
        "seccomp",
        "Landlock",
        "namespaces",
        "timing",
    ] {
        assert!(about.contains(&wanted), "{wanted}: {about:?}");
    }
}
