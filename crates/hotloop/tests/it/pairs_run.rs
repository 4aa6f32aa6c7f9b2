//! Both sides of pairs on an emulated GPU: our own (`crates/corpus/tests/pairs`), and those of the
//! suites where the environment names their trees.

use std::cell::Cell;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use hotloop_bench::gpu::trial::TaskTrial;
use hotloop_bench::{LocalBench, Settings};
use hotloop_corpus::pairs::{
    self, Built, Harness, Mark, Options, Record, RunError, Runs, Tools, read,
};
use hotloop_flow::{Bench, Device, Job, JobId, Label, Language, Task, Verdict};
use serde_json::Value;

use crate::{ended, hotloop, root, turn};

/// Says in a process that it has the emulator in place of a GPU.
const EMULATED: &str = "HOTLOOP_TEST_EMULATED";

/// Whether this process has an emulated GPU. If it has none, the test runs again in one that has.
fn is_emulated(test: &str) -> bool {
    if std::env::var_os(EMULATED).is_some() {
        return true;
    }
    let _turn = turn();
    let emulator = tempfile::tempdir().unwrap();
    let script = root().join("crates/policy/tests/cuda_emulator/build.sh");
    let built = Command::new("sh").arg(script).arg(emulator.path()).output();
    let built = built.unwrap();
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    let ran = Command::new(std::env::current_exe().unwrap())
        .args([&format!("pairs_run::{test}"), "--exact", "--nocapture"])
        .env("LD_LIBRARY_PATH", emulator.path())
        .env("EMU_CLOCK", "1")
        .env("EMU_MEMORY", "1024")
        .env(EMULATED, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    std::io::stdout().write_all(&ran.stdout).unwrap();
    assert!(
        ran.status.success() && said.contains("1 passed"),
        "{said}{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    false
}

fn own(part: &str) -> PathBuf {
    root().join("crates/corpus/tests/pairs").join(part)
}

/// The folder that `hotloop corpus pairs` makes of our own pairs.
fn made(folder: &Path) -> PathBuf {
    let out = folder.join("pairs");
    let mut command = hotloop(&[
        "corpus",
        "pairs",
        "--no-compile",
        "--held-out",
        "0",
        "--slow",
    ]);
    command.arg(own("slow")).arg("--fast").arg(own("fast"));
    let (status, _, error) = ended(command.arg("--out").arg(&out));
    assert_eq!(status, 0, "{error}");
    out
}

/// Everything in a folder, by name.
fn content(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read(path).unwrap())
        })
        .collect();
    found.sort();
    found
}

/// What the bench says of a candidate. An emulated GPU shares its processor with other processes, so
/// that its clocks may disagree about a candidate that is right.
fn judge(trial: &mut TaskTrial, job: &Job) -> Verdict {
    match trial.judge(job).unwrap() {
        Verdict::Suspect { why, measured } if why.contains("the examiner's clock says") => {
            Verdict::Correct(measured)
        }
        verdict => verdict,
    }
}

fn marks(built: &Built) -> Vec<(&str, Option<Mark>)> {
    let mark = |record: &Record| record.run.as_ref().map(|ran| ran.mark);
    let records = built.records.iter();
    records
        .map(|record| (&*record.file, mark(record)))
        .collect()
}

#[test]
fn an_honest_pair_is_faster_and_a_wrong_one_is_in_no_chat() {
    if !is_emulated("an_honest_pair_is_faster_and_a_wrong_one_is_in_no_chat") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let out = made(folder.path());
    let harnesses = Harness::below(&own("harnesses")).unwrap();
    let runs = Runs {
        harnesses: &harnesses,
        rounds: 6,
        keep_slower: true,
        machine: "emulator",
        device: "CPU emulator",
    };
    let mut trial = TaskTrial::open(env!("CARGO_BIN_EXE_hotloop").into()).unwrap();
    let (judged, most) = (Cell::new(0), Cell::new(12));
    let mut run = || {
        let mut one = |job: Job| {
            if judged.get() == most.get() {
                return Err("killed");
            }
            judged.set(judged.get() + 1);
            Ok(judge(&mut trial, &job))
        };
        runs.of_folder(&out, &mut one, &|_| {})
    };
    let before = content(&out);
    let killed = run();
    assert!(
        matches!(killed, Err(RunError::Judging("killed"))),
        "{killed:?}"
    );
    let left = content(&out);
    let left: Vec<_> = left.into_iter().filter(|it| it.0 != "runs.jsonl").collect();
    assert_eq!(
        left, before,
        "a pair more is known, and no file has changed"
    );
    most.set(14);
    let built = run().unwrap();
    assert_eq!(judged.get(), 14, "a wrong side ends after one round");
    let expected = [
        ("lonely.cu", None),
        ("polynomial.cu", Some(Mark::Faster)),
        ("reverse.cu", Some(Mark::Unequal)),
    ];
    assert_eq!(marks(&built), expected, "{:#?}", built.records[1].run);
    assert_eq!(read(&out).unwrap(), built, "it is on disk");
    let honest = built.records[1].run.as_ref().unwrap();
    let speedup = honest.speedup.unwrap();
    assert!(
        honest.equal == Some(true) && speedup.rounds == 6,
        "{honest:?}"
    );
    assert!(
        1.0 < speedup.low && speedup.low <= speedup.value && speedup.value <= speedup.high,
        "{speedup:?}"
    );
    let wrong = built.records[2].run.as_ref().unwrap();
    assert_eq!((wrong.equal, wrong.speedup), (Some(false), None));
    assert!(wrong.fast.detail.contains("was not written"), "{wrong:?}");
    let counts = built.summary.runs.as_ref().unwrap();
    let counts = (
        counts.run,
        counts.without_harness,
        counts.equal,
        counts.dropped,
    );
    assert_eq!(counts, (2, 1, 1, 1));
    let text = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
    let train = text("train.jsonl");
    assert_eq!(train.lines().count(), 2, "{train}");
    assert!(train.contains("polynomial") && !train.contains("reverse"));
    let card = text("README.md");
    assert!(card.contains("| unequal | 1 |"), "{card}");
    let line: Value = serde_json::from_str(text("records.jsonl").lines().nth(1).unwrap()).unwrap();
    assert_eq!(line["run"]["mark"], "faster", "{line}");
    assert!(line["run"]["speedup"]["low"].as_f64().unwrap() > 1.0);
    // Nothing is judged again, and the same is written again.
    let again = content(&out);
    run().unwrap();
    assert_eq!((judged.get(), content(&out)), (14, again));
}

#[test]
fn without_a_gpu_the_command_says_so_and_writes_nothing() {
    if Path::new("/dev/nvidiactl").exists() {
        println!("skipped: there is a GPU");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let out = made(folder.path());
    let before = content(&out);
    let run = |more: &[&str]| {
        let mut command = hotloop(&["corpus", "pairs-run"]);
        ended(command.arg(&out).args(more))
    };
    let (status, _, error) = run(&[]);
    assert!(status == 1 && error.contains("no harness fits"), "{error}");
    let harnesses = own("harnesses");
    let (status, said, error) = run(&["--harness", harnesses.to_str().unwrap()]);
    assert_eq!(status, 3, "{said}{error}");
    assert!(
        error.contains("no pair was run, and nothing was written"),
        "{error}"
    );
    assert_eq!(content(&out), before);
    let (status, _, error) = ended(&mut hotloop(&["corpus", "pairs-run", "/nowhere"]));
    assert!(status == 1 && error.contains("/nowhere"), "{error}");
}

/// The records of the suites' trees; `None` without them.
fn suites() -> Option<Vec<Record>> {
    let tree = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let options = Options {
        parboil: Some(tree("HOTLOOP_PARBOIL")?),
        rodinia: Some(tree("HOTLOOP_RODINIA")?),
        max_tokens: 4096,
        ..Options::default()
    };
    let tools = Tools {
        compiler: None,
        writer: None,
        tokens: &|text| text.len() / 4,
        progress: &|_| {},
    };
    Some(pairs::build(&options, tools).unwrap().records)
}

const NO_TREES: &str = "skipped: HOTLOOP_PARBOIL and HOTLOOP_RODINIA name no trees";

/// The shipped harnesses, each with the pair that it fits.
fn fitted(records: &[Record]) -> Vec<(Harness, &Record)> {
    let only = std::env::var("HOTLOOP_HARNESS").ok();
    // A test of the corpus says that the shipped ones are the same.
    let all = Harness::below(&root().join("crates/corpus/harnesses"));
    let all = all.unwrap().into_iter();
    all.filter(|harness| only.as_ref().is_none_or(|only| *only == harness.name))
        .map(|harness| {
            let mut fitting = records.iter().filter(|record| harness.fits(record));
            let record = fitting.next();
            let record = record.unwrap_or_else(|| panic!("{} fits no pair", harness.name));
            (harness, record)
        })
        .collect()
}

/// A task with problems that a processor can do.
fn small(task: &Task) -> Arc<Task> {
    let mut task = task.clone();
    let sizes = &mut task.spec.function_mut().sizes;
    sizes.hidden.truncate(2);
    sizes.timed = sizes.hidden[1].clone();
    sizes.drawn.clear();
    Arc::new(task)
}

#[test]
fn both_sides_of_the_suites_pairs_are_equal() {
    if std::env::var_os("HOTLOOP_PARBOIL").is_none() {
        println!("{NO_TREES}");
        return;
    }
    if !is_emulated("both_sides_of_the_suites_pairs_are_equal") {
        return;
    }
    let Some(records) = suites() else {
        println!("{NO_TREES}");
        return;
    };
    let mut trial = TaskTrial::open(env!("CARGO_BIN_EXE_hotloop").into()).unwrap();
    let mut surprises = Vec::new();
    for (mut harness, record) in fitted(&records) {
        harness.task = small(&harness.task);
        let mut one = |job: Job| Ok::<_, ()>(judge(&mut trial, &job));
        let machine = ("emulator", "CPU emulator");
        let ran = pairs::run(&harness, record, 1, machine, &mut one).unwrap();
        let errors = [&ran.slow, &ran.fast].map(|side| side.error.unwrap_or(f64::NAN));
        println!("{}: {:?}, errors {errors:?}", harness.name, ran.equal);
        if ran.equal != Some(true) {
            surprises.push(format!("{}: {ran:#?}", harness.name));
        }
    }
    assert!(surprises.is_empty(), "{}", surprises.join("\n"));
}

#[test]
fn both_sides_of_the_suites_pairs_compile_and_have_a_plan() {
    let Some(records) = suites() else {
        println!("{NO_TREES}");
        return;
    };
    let _turn = turn();
    let settings = Settings {
        languages: vec![Language::Cuda],
        ..Settings::new(env!("CARGO_BIN_EXE_hotloop").into())
    };
    let mut bench = LocalBench::start(settings).unwrap();
    if !bench.facts().compiler.starts_with("NVRTC") {
        println!("skipped: there is no NVRTC");
        return;
    }
    let mut names = Vec::new();
    let mut jobs = Vec::new();
    for (harness, record) in fitted(&records) {
        for (side, candidate) in ["slow", "fast"].into_iter().zip(harness.candidates(record)) {
            names.push(format!("{} ({side})", harness.name));
            jobs.push(Job {
                id: JobId(jobs.len() as u64),
                task: Arc::clone(&harness.task),
                candidate: candidate.unwrap(),
                stage: None,
            });
        }
    }
    let mut left = jobs.len();
    bench.submit(jobs).unwrap();
    let has_gpu = matches!(bench.facts().device, Device::Gpu { .. });
    let mut surprises = Vec::new();
    while left > 0 {
        let Some(reply) = bench.next(std::time::Duration::from_mins(2)).unwrap() else {
            continue;
        };
        left -= 1;
        let name = &names[reply.id.0 as usize];
        match reply.judged {
            Ok(judgement) if judgement.verdict.label() != Label::Correct => {
                let (label, detail) = (judgement.verdict.label(), judgement.verdict.detail());
                surprises.push(format!("{name}: {label}: {detail}"));
            }
            Err(error) if has_gpu || !error.what.contains("it cannot run here") => {
                surprises.push(format!("{name}: {}", error.what));
            }
            Ok(_) | Err(_) => println!("{name}: fine"),
        }
    }
    assert!(surprises.is_empty(), "{}", surprises.join("\n"));
}
