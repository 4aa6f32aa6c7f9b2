//! The bench measures itself: the commands run and their numbers make sense.

use std::path::Path;

use crate::{ended, hotloop, lines, root};

#[test]
fn throughput_compares_with_the_plain_pipeline() {
    let lines = lines(&["bench", "throughput", "--count", "3", "--json"]);
    let number = |key: &str| lines[0][key].as_f64().unwrap();
    let phases = number("bench_compile_s") + number("bench_verify_s") + number("bench_time_s");
    assert!(
        (phases / number("bench_s") - 1.0).abs() < 0.05,
        "{}",
        lines[0]
    );
    assert!(
        number("plain_gcc_s") > 0.0 && number("ratio") > 0.0,
        "{}",
        lines[0]
    );
}

#[test]
fn the_same_candidate_is_judged_many_times() {
    let lines = lines(&["bench", "aa", "--count", "3", "--json"]);
    assert_eq!(lines[0]["correct"], 3, "{}", lines[0]);
    assert_eq!(lines[0]["gflops"].as_array().unwrap().len(), 3);
}

#[test]
fn both_measure_the_seed_of_any_task() {
    let steady = lines(&[
        "bench",
        "aa",
        "--task",
        "transpose",
        "--count",
        "2",
        "--json",
    ]);
    assert_eq!(steady[0]["correct"], 2, "{}", steady[0]);
    assert!(steady[0]["seconds"].as_f64().unwrap() > 0.0);
    let crowd = lines(&[
        "bench",
        "throughput",
        "--task",
        "transpose",
        "--count",
        "2",
        "--json",
    ]);
    assert_eq!(crowd[0]["correct"], 2, "{}", crowd[0]);
    assert!(crowd[0]["per_s"].as_f64().unwrap() > 0.0);
}

/// A fixture of the bench's tests.
fn fixture(name: &str) -> String {
    let folder = root().join("crates/bench/tests/torch");
    folder.join(name).display().to_string()
}

#[test]
fn a_file_of_cuda_is_planned_like_an_answer_in_python() {
    let (problem, answer) = (
        fixture("problems/layernorm.py"),
        fixture("files/honest/layernorm-parameters.cu"),
    );
    let planned = &lines(&["bench", "plan", &problem, &answer, "--json"])[0];
    assert_eq!(planned["verdict"], "planned", "{planned}");
    assert_eq!(planned["plan"]["steps"][0]["kernel"], "normalise");
    let solve = "extern \"C\" void solve(const float* input0, const float* ln_weight, const float* ln_bias, \
        float* output0)";
    assert_eq!(
        lines(&["bench", "plan", &problem, "--json"])[0]["solve"],
        solve
    );
    let (status, out, _) = ended(&mut hotloop(&["bench", "plan", &problem]));
    assert!(status == 0 && out.contains(solve), "{out}");
    let refused = fixture("files/cheats/launches-nothing.cu");
    let relu = fixture("problems/relu.py");
    let (_, out, error) = ended(&mut hotloop(&[
        "bench", "module", &relu, &refused, "--reward", "weighted",
    ]));
    assert!(out.contains("refused"), "{out}{error}");
    assert!(out.contains("Mean reward by `weighted`: 0.000."), "{out}");
}

#[test]
fn an_answer_is_planned_without_a_gpu() {
    let (problem, answer) = (
        fixture("problems/sum.py"),
        fixture("honest/sum-two-kernels.py"),
    );
    let lines = lines(&["bench", "plan", &problem, &answer, "--json"]);
    let plan = &lines[0];
    assert_eq!(plan["verdict"], "planned", "{plan}");
    assert_eq!(plan["judged"], false);
    assert_eq!(plan["plan"]["steps"][0]["kernel"], "partial");
    assert_eq!(plan["plan"]["steps"][1]["grid"][0], 1);
    assert_eq!(plan["plan"]["outputs"][0]["shape"][1][0], 128);
    let (status, out, _) = ended(&mut hotloop(&["bench", "plan", &problem, &answer]));
    assert_eq!(status, 0, "{out}");
    for words in ["input 0, own 0", "A plan is no judgement", "2 launches"] {
        assert!(out.contains(words), "{words}: {out}");
    }
}

#[test]
fn many_answers_become_a_table_with_the_reasons() {
    let answers = [
        "honest/relu-elementwise.py",
        "cheats/import-os.py",
        "cheats/torch-random.py",
        "cheats/empty.py",
    ];
    let mut arguments = vec![
        "bench".to_owned(),
        "plan".into(),
        fixture("problems/relu.py"),
    ];
    arguments.extend(answers.map(fixture));
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (status, out, error) = ended(&mut hotloop(&arguments));
    assert_eq!(status, 0, "{error}");
    for words in [
        "1 of 4 answers planned",
        "uses `os.system`",
        "torch.rand_like",
        "malformed",
    ] {
        assert!(out.contains(words), "{words}: {out}");
    }
}

#[test]
fn plans_are_for_problems_that_exist() {
    let relu = fixture("problems/relu.py");
    let cases = [
        (vec!["bench", "plan", "kernelbench/1/19"], "--kernelbench"),
        (vec!["bench", "plan", "./no.py"], "no.py"),
        (
            vec!["bench", "plan", &relu, "./no-answer.py"],
            "no-answer.py",
        ),
    ];
    for (arguments, words) in cases {
        let (status, _, error) = ended(&mut hotloop(&arguments));
        assert_eq!(status, 1, "{arguments:?}");
        assert!(error.contains(words), "{arguments:?}: {error}");
    }
    let (status, out, _) = ended(&mut hotloop(&["bench", "plan", &relu]));
    assert_eq!(status, 0);
    assert!(
        out.contains("float32[1024, 4096] -> float32[1024, 4096]"),
        "{out}"
    );
}

#[test]
fn what_needs_no_gpu_is_a_verdict_that_a_file_keeps() {
    let (problem, refused) = (
        fixture("problems/scaled.py"),
        fixture("judged/torch-does-it.py"),
    );
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.jsonl").display().to_string();
    let judge = |answers: &[&str]| {
        let options = ["--json", "--no-compile", "--out", &out];
        ended(
            hotloop(&["bench", "module", &problem])
                .args(answers)
                .args(options),
        )
    };
    let (status, first, said) = judge(&[&refused]);
    assert_eq!(status, 0, "{first}{said}");
    let read = |text: &str| -> Vec<serde_json::Value> {
        let lines = text.lines().map(serde_json::from_str);
        lines.collect::<Result<_, _>>().unwrap()
    };
    let [verdict, scores] = &read(&first)[..] else {
        panic!("{first}");
    };
    assert_eq!(verdict["verdict"], "refused");
    assert_eq!(scores["scores"]["answers"], 1);
    assert_eq!(scores["scores"]["correct"], 0);
    let kept = std::fs::read_to_string(&out).unwrap();
    assert_eq!(judge(&[&refused]).1, first, "it is not judged again");
    assert_eq!(std::fs::read_to_string(&out).unwrap(), kept);
}

#[test]
fn an_answer_that_would_have_to_run_says_how_far_it_came() {
    if Path::new("/dev/nvidiactl").exists() {
        println!("skipped: there is a GPU");
        return;
    }
    let (problem, answer) = (
        fixture("problems/scaled.py"),
        fixture("judged/one-kernel.py"),
    );
    let (status, table, said) = ended(&mut hotloop(&["bench", "module", &problem, &answer]));
    assert_eq!(status, 3, "{table}{said}");
    assert!(
        table.contains("one call makes 1 launch, but it cannot run here"),
        "{table}{said}"
    );
    assert!(table.contains("1 answer without a verdict"), "{table}");
}
