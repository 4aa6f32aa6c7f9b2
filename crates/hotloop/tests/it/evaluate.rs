//! Policies are compared with each other, and programs with the corpus.

use std::collections::BTreeSet;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::{ended, hotloop, lines, root, turn};

#[test]
fn each_policy_and_task_is_reported_and_every_answer_kept() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("kept");
    let told = lines(&[
        "evaluate",
        "--model",
        "nano",
        "--model",
        "nano",
        "--task",
        "matmul,transpose",
        "--stage",
        "1,2",
        "--count",
        "3",
        "--set",
        "bench.timing=paper",
        "--json",
        "--keep",
        kept.to_str().unwrap(),
    ]);
    let tasks: Vec<&str> = told
        .iter()
        .map(|line| line["task"].as_str().unwrap())
        .collect();
    assert_eq!(tasks, ["matmul", "transpose", "matmul", "transpose"]);
    for line in &told {
        assert_eq!(
            (line["policy"].as_str(), line["answers"].as_u64()),
            (Some("nano"), Some(6)),
            "{line}"
        );
        let correct = &line["correct"];
        assert!(
            correct["low"].as_f64() <= correct["value"].as_f64()
                && correct["value"].as_f64() > Some(0.5),
            "{line}"
        );
        assert!(
            (1..=6).contains(&line["distinct"].as_u64().unwrap()),
            "{line}"
        );
        assert!(
            line["best"]["speedup"].as_f64().unwrap() > 0.0
                && line["seed_speed"].as_f64().unwrap() > 0.0
        );
        assert!(
            line["speedup_all"]["mean"]["value"].as_f64()
                <= line["speedup_correct"]["mean"]["value"].as_f64()
        );
    }
    // The same policy with the same draws gives the same answers.
    assert_eq!(told[0]["verdicts"], told[2]["verdicts"]);
    let index = std::fs::read_to_string(kept.join("answers.jsonl")).unwrap();
    let answers: Vec<Value> = index
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(answers.len(), 24);
    let file = kept.join(answers[0]["file"].as_str().unwrap());
    assert!(
        file.display()
            .to_string()
            .contains(answers[0]["verdict"].as_str().unwrap())
    );
    assert!(
        std::fs::read_to_string(file)
            .unwrap()
            .contains("matmul_optimized")
    );
    let figures: Value =
        serde_json::from_slice(&std::fs::read(kept.join("evaluation.json")).unwrap()).unwrap();
    assert_eq!(figures, Value::Array(told));
}

#[test]
fn adapters_of_one_name_are_two_policies() {
    let folder = tempfile::tempdir().unwrap();
    let trained = crate::nano::adapter(folder.path());
    let adapters = ["seed1", "seed2"].map(|seed| folder.path().join(seed).join("warm"));
    for to in &adapters {
        std::fs::create_dir_all(to).unwrap();
        for entry in std::fs::read_dir(&trained).unwrap() {
            let entry = entry.unwrap();
            std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
    let kept = folder.path().join("kept");
    let both = adapters
        .map(|path| path.to_str().unwrap().to_owned())
        .join(",");
    let ask = [
        "evaluate",
        "--model",
        "nano",
        "--task",
        "matmul",
        "--stage",
        "1",
        "--count",
        "2",
        "--json",
        "--adapter",
    ];
    let more = [
        both.as_str(),
        "--set",
        "bench.timing=paper",
        "--keep",
        kept.to_str().unwrap(),
    ];
    let arguments: Vec<&str> = ask.into_iter().chain(more).collect();
    let told = lines(&arguments);
    let names: Vec<&str> = told
        .iter()
        .map(|line| line["policy"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["nano + seed1/warm", "nano + seed2/warm"]);
    let index = std::fs::read_to_string(kept.join("answers.jsonl")).unwrap();
    let line = |line: &str| -> Value { serde_json::from_str(line).unwrap() };
    let files: BTreeSet<String> = index
        .lines()
        .map(|text| line(text)["file"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(files.len(), 4, "{files:?}");
    assert!(
        files.iter().all(|file| kept.join(file).exists()),
        "{files:?}"
    );
}

/// With a run's seed, temperature and count, an evaluation repeats the answers of its probe.
#[test]
fn an_evaluation_repeats_a_runs_probe() {
    let folder = tempfile::tempdir().unwrap();
    let (file, run, kept) = (
        folder.path().join("run.toml"),
        folder.path().join("run"),
        folder.path().join("kept"),
    );
    let text = format!(
        "model = \"nano\"\nseed = 5\ndirectory = \"{}\"\n[budget]\nsteps = 1\n[sampling]\ngroup = 2\n\
         [learning]\nrate = 0\n[bench]\ntiming = \"paper\"\n[loop]\nprobe = 1\n",
        run.display()
    );
    std::fs::write(&file, text).unwrap();
    let (status, _, error) = ended(hotloop(&["train"]).arg(&file));
    assert_eq!(status, 0, "{error}");
    let again = [
        "evaluate",
        "--model",
        "nano",
        "--task",
        "matmul",
        "--temperature",
        "1",
        "--seed",
        "5",
        "--count",
        "1",
    ];
    let (status, _, error) = ended(
        hotloop(&again)
            .args(["--set", "bench.timing=paper", "--keep"])
            .arg(&kept),
    );
    assert_eq!(status, 0, "{error}");
    let known: Vec<String> = std::fs::read_dir(run.join("candidates"))
        .unwrap()
        .map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap())
        .collect();
    for stage in 1..=6 {
        let mut answers =
            std::fs::read_dir(kept.join(format!("nano/matmul/stage-{stage}"))).unwrap();
        let answer = answers.next().unwrap().unwrap().path();
        let source = std::fs::read_to_string(&answer).unwrap();
        assert!(
            answer.extension().is_some_and(|end| end == "txt") || known.contains(&source),
            "{source}"
        );
    }
}

#[test]
fn people_read_a_table_and_mistakes_are_reported_before_loading() {
    let evaluate = |more: &[&str]| ended(hotloop(&["evaluate", "--model", "nano"]).args(more));
    let (status, told, error) = evaluate(&["--task", "matmul", "--stage", "2", "--count", "2"]);
    assert_eq!((status, error.as_str()), (0, ""), "{told}");
    for words in [
        "matmul: 2 answers to each of 1 stage at temperature 0.2",
        "speed-up",
        "best GFLOPS",
        "failures as 0",
    ] {
        assert!(told.contains(words), "{words} is missing in\n{told}");
    }
    for (arguments, words) in [
        (
            ["--task", "fft", "--count", "2"],
            "was not trained on `fft`",
        ),
        (["--task", "matmul", "--stage", "7"], "--stage"),
        (
            ["--task", "matmul", "--adapter", "none,nowhere"],
            "adapter_config.json",
        ),
        (["--task", "matmul", "--set", "nothing=1"], "nothing"),
        (
            ["--task", "matmul", "--model", "nowhere"],
            "no such file or folder",
        ),
    ] {
        let (status, _, error) = evaluate(&arguments);
        assert_eq!(status, 1, "{arguments:?}: {error}");
        assert!(
            error.contains(words),
            "{arguments:?} does not say `{words}`: {error}"
        );
    }
}

#[test]
fn a_signal_stops_it_soon() {
    let _turn = turn();
    let mut command = hotloop(&[
        "evaluate", "--model", "nano", "--task", "matmul", "--count", "200",
    ]);
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_secs(2));
    let begin = Instant::now();
    let kill = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(kill.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(
        begin.elapsed() < Duration::from_secs(10),
        "took {:?}",
        begin.elapsed()
    );
}

#[test]
fn a_program_of_the_corpus_is_its_own_nearest() {
    let folder = tempfile::tempdir().unwrap();
    let seed = root().join("tasks/matvec/seed.c");
    let nearest = |file: &std::path::Path| {
        let told = lines(&[
            "corpus",
            "nearest",
            file.to_str().unwrap(),
            "--task",
            "matvec",
            "--count",
            "50",
            "--json",
        ]);
        assert_eq!((told.len(), told[0]["compared"].as_u64()), (1, Some(50)));
        told[0].clone()
    };
    let found = nearest(&seed);
    assert!(
        (0.0..0.6).contains(&found["distance"].as_f64().unwrap()),
        "{found}"
    );
    let copy = folder.path().join("copy.c");
    std::fs::write(
        &copy,
        format!("// mine\n{}", found["nearest"].as_str().unwrap()),
    )
    .unwrap();
    let again = nearest(&copy);
    assert_eq!(
        (again["distance"].as_f64(), again["as_written"].as_f64()),
        (Some(0.0), Some(0.0))
    );
    std::fs::write(&copy, "// nothing\n").unwrap();
    let (status, _, error) = ended(hotloop(&["corpus", "nearest"]).arg(&copy));
    assert_eq!(status, 1);
    assert!(error.contains("there is no code in it"), "{error}");
}
