//! CUDA candidates: without a GPU up to their plan, and with one all the way.
//!
//! Here a part of the cheats stands for all; `HOTLOOP_TEST_CHEATS=all` takes all. The bench `cuda`
//! shows the verdicts of all of them on a GPU, as a table.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use hotloop_bench::{LocalBench, Settings};
use hotloop_flow::{
    Bench, BenchError, Candidate, Device, Job, JobId, Judgement, Label, Language, Reply, Task,
};

use crate::{fixtures, settings};

/// Of so many cheats one is judged.
const SHARE: usize = 8;
const SKIPPED: &str = "skipped: there is no NVRTC (`.ci/python prepare` installs it)";
/// The verdicts that need no GPU.
const EARLY: [&str; 3] = ["malformed", "refused", "not-compiled"];

struct Fixture {
    name: String,
    expect: Vec<String>,
    job: Option<Job>,
}

/// A bench for CUDA; `None` where nothing can be compiled for a GPU.
fn bench() -> Option<LocalBench> {
    let bench = LocalBench::start(Settings {
        languages: vec![Language::Cuda],
        ..settings()
    });
    let bench = bench.unwrap();
    if bench.facts().compiler.starts_with("NVRTC") {
        return Some(bench);
    }
    None
}

fn has_gpu(bench: &LocalBench) -> bool {
    matches!(bench.facts().device, Device::Gpu { .. })
}

fn load(folder: &str) -> Vec<Fixture> {
    let mut tasks: BTreeMap<String, Arc<Task>> = BTreeMap::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/cuda")
        .join(folder);
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let only = std::env::var("HOTLOOP_FIXTURE").ok();
    let read = |(index, path): (usize, std::path::PathBuf)| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let of = name.split('-').next().unwrap().to_owned();
        let load = || Arc::new(hotloop_bench::tasks::load(&format!("cuda/{of}")).unwrap());
        let task = Arc::clone(tasks.entry(of.clone()).or_insert_with(load));
        let bytes = std::fs::read(&path).unwrap();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let field = |key: &str| {
            let start = format!("// {key}:");
            let mut lines = text.lines().take(12);
            lines.find_map(|line| {
                line.strip_prefix(&start)
                    .map(|value| value.trim().to_owned())
            })
        };
        let stage = field("stage").map(|stage| task.spec.stages.find(&stage).unwrap());
        let candidate = Candidate::from_source(&bytes, &task).ok();
        let job = candidate.map(|candidate| Job {
            id: JobId(index as u64),
            task: Arc::clone(&task),
            candidate,
            stage,
        });
        let expect = field("expect").unwrap_or_default();
        Fixture {
            expect: expect
                .split(',')
                .map(|word| word.trim().to_owned())
                .collect(),
            name,
            job,
        }
    };
    let mut all: Vec<Fixture> = paths.into_iter().enumerate().map(read).collect();
    all.retain(|it| only.as_ref().is_none_or(|only| it.name.contains(only)));
    all
}

/// What the bench says of each; `None` for a malformed one.
fn judge(bench: &mut LocalBench, all: &[Fixture]) -> Vec<Option<Result<Judgement, BenchError>>> {
    let jobs: Vec<Job> = all
        .iter()
        .filter_map(|fixture| fixture.job.clone())
        .collect();
    bench.submit(jobs).unwrap();
    let mut replies: BTreeMap<u64, Reply> = fixtures::drain(bench)
        .into_iter()
        .map(|reply| (reply.id.0, reply))
        .collect();
    let mut reply = |job: &Job| {
        replies
            .remove(&job.id.0)
            .expect("each job has a reply")
            .judged
    };
    all.iter()
        .map(|fixture| fixture.job.as_ref().map(&mut reply))
        .collect()
}

#[test]
fn no_cheat_in_cuda_is_correct() {
    let _turn = crate::turn();
    let Some(mut bench) = bench() else {
        println!("{SKIPPED}");
        return;
    };
    let mut cheats = load("cheats");
    if std::env::var_os("HOTLOOP_TEST_CHEATS").is_none() && cheats.len() > SHARE {
        let mut index = 0;
        cheats.retain(|_| {
            index += 1;
            index % SHARE == 0
        });
    }
    let mut surprises = Vec::new();
    for (cheat, judged) in cheats.iter().zip(judge(&mut bench, &cheats)) {
        let is_expected = |name: &str| cheat.expect.iter().any(|expected| expected == name);
        let (fine, said) = match judged {
            None => (is_expected("malformed"), "malformed".to_owned()),
            Some(Ok(judgement)) => {
                let label = judgement.verdict.label();
                (
                    is_expected(label.name()),
                    format!("{label}: {}", judgement.verdict.detail()),
                )
            }
            // It would have to run.
            Some(Err(error)) => {
                let runs = cheat
                    .expect
                    .iter()
                    .any(|name| !EARLY.contains(&name.as_str()));
                let is_unrun = error.what.contains("it cannot run here");
                (runs && is_unrun && !has_gpu(&bench), error.what)
            }
        };
        assert!(
            !is_expected("correct"),
            "{}: a cheat is never correct",
            cheat.name
        );
        if !fine {
            let expect = cheat.expect.join(", ");
            surprises.push(format!("{}: expected {expect}, and is {said}", cheat.name));
        }
    }
    assert!(
        surprises.is_empty(),
        "{} surprises of {}:\n{}",
        surprises.len(),
        cheats.len(),
        surprises.join("\n")
    );
}

#[test]
fn every_honest_candidate_in_cuda_has_a_plan() {
    let _turn = crate::turn();
    let Some(mut bench) = bench() else {
        println!("{SKIPPED}");
        return;
    };
    let honest = load("honest");
    let mut surprises = Vec::new();
    for (candidate, judged) in honest.iter().zip(judge(&mut bench, &honest)) {
        let name = &candidate.name;
        match judged {
            None => surprises.push(format!("{name}: malformed")),
            Some(Ok(judgement)) if judgement.verdict.label() != Label::Correct => {
                let (label, detail) = (judgement.verdict.label(), judgement.verdict.detail());
                surprises.push(format!("{name}: {label}: {detail}"));
            }
            Some(Err(error)) if !error.what.contains("it cannot run here") || has_gpu(&bench) => {
                surprises.push(format!("{name}: {}", error.what));
            }
            Some(Ok(_) | Err(_)) => {}
        }
    }
    assert!(
        surprises.is_empty(),
        "{} surprises:\n{}",
        surprises.len(),
        surprises.join("\n")
    );
}

#[test]
fn a_candidate_that_cannot_run_here_says_how_far_it_came() {
    let _turn = crate::turn();
    let Some(mut bench) = bench() else {
        println!("{SKIPPED}");
        return;
    };
    let task = hotloop_bench::tasks::load("cuda/relu").unwrap();
    let job = fixtures::job(1, "cuda/relu", &task.seed);
    // An identical one is not judged twice.
    let twin = Job {
        id: JobId(2),
        ..job.clone()
    };
    bench.submit(vec![job, twin]).unwrap();
    let replies = fixtures::drain(&mut bench);
    assert_eq!(replies.len(), 2);
    for reply in replies {
        match reply.judged {
            Ok(judgement) => assert!(has_gpu(&bench), "{:?}", judgement.verdict),
            Err(error) => {
                assert!(!has_gpu(&bench), "{}", error.what);
                assert_eq!(error.kind, hotloop_flow::ErrorKind::Machine);
                assert!(error.what.contains("makes 1 launch"), "{}", error.what);
            }
        }
    }
}

#[test]
fn jobs_in_both_languages_are_judged_side_by_side() {
    let _turn = crate::turn();
    let Some(mut bench) = bench() else {
        println!("{SKIPPED}");
        return;
    };
    let broken = "extern \"C\" void solve(const float* x, float* y, long long n) { oops }";
    let c = hotloop_bench::tasks::load("transpose").unwrap();
    let jobs = vec![
        fixtures::job(1, "cuda/relu", broken),
        fixtures::job(2, "transpose", &c.seed),
    ];
    bench.submit(jobs).unwrap();
    let labels: BTreeMap<u64, Label> = fixtures::drain(&mut bench)
        .into_iter()
        .map(|reply| (reply.id.0, reply.judged.unwrap().verdict.label()))
        .collect();
    assert_eq!(
        labels,
        [(1, Label::NotCompiled), (2, Label::Correct)].into()
    );
    let of = |language| bench.facts_of(language).device.simd().is_some();
    assert!(of(Language::C));
    assert_ne!(
        bench.facts_of(Language::C).class,
        bench.facts_of(Language::Cuda).class
    );
}
