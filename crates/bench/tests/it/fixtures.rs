//! Candidates in files, and what is expected of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hotloop_bench::{LocalBench, Settings};
use hotloop_flow::how::{Compiler, OptLevel};
use hotloop_flow::{
    Bench, BenchError, Candidate, How, Job, JobId, Judgement, Stage, Task, Verdict,
};

/// How often a machine is asked that has other work.
const ATTEMPTS: usize = 3;
/// How long the next reply may take. On a machine with other work a compiler alone may take two
/// minutes.
const PATIENCE: Duration = Duration::from_mins(10);

/// A candidate in a file; its head says what it is.
#[derive(Debug, Clone)]
pub(crate) struct Fixture {
    pub(crate) name: String,
    pub(crate) task: String,
    pub(crate) threads: u32,
    pub(crate) stage: Option<Stage>,
    /// If it is about one compiler or level.
    pub(crate) compiler: Option<Compiler>,
    pub(crate) level: Option<OptLevel>,
    pub(crate) expect: Vec<String>,
    pub(crate) source: Vec<u8>,
}

impl Fixture {
    /// How it is judged where nothing else is asked for.
    pub(crate) fn how(&self, how: How) -> How {
        How {
            threads: self.threads,
            compiler: self.compiler.unwrap_or(how.compiler),
            opt: self.level.unwrap_or(how.opt),
            ..how
        }
    }
}

/// All fixtures of a folder beside the tests, by name.
pub(crate) fn load(folder: &str) -> Vec<Fixture> {
    let base = std::env::var_os("HOTLOOP_TEST_FIXTURES");
    let base = base.map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("tests"),
        PathBuf::from,
    );
    let folder = base.join(folder);
    let mut fixtures: Vec<Fixture> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "c"))
        .map(|path| {
            let source = std::fs::read(&path).unwrap();
            let text = String::from_utf8_lossy(&source).into_owned();
            let field = |name: &str| {
                let start = format!("// {name}:");
                text.lines()
                    .take(12)
                    .find_map(|line| line.strip_prefix(&start))
                    .map(|value| value.trim().to_owned())
            };
            Fixture {
                name: path.file_stem().unwrap().to_string_lossy().into_owned(),
                task: field("task").unwrap_or_else(|| panic!("{}: no task", path.display())),
                threads: field("threads").map_or(1, |threads| threads.parse().unwrap()),
                stage: field("stage")
                    .map(|stage| Stage::try_from(stage.parse::<u8>().unwrap()).unwrap()),
                compiler: field("compiler").map(|name| name.parse().unwrap()),
                level: field("level").map(|name| name.parse().unwrap()),
                expect: field("expect").map_or_else(Vec::new, |list| {
                    list.split('|').map(|v| v.trim().to_owned()).collect()
                }),
                source,
            }
        })
        .collect();
    fixtures.sort_by(|a, b| a.name.cmp(&b.name));
    if !has_clang() {
        fixtures.retain(|fixture| fixture.compiler != Some(Compiler::Clang));
    }
    if fixtures.iter().any(needs_watch) && !has_watch() {
        fixtures.retain(|fixture| !needs_watch(fixture));
    }
    fixtures
}

/// Whether only a look at the running candidate tells what it is.
fn needs_watch(fixture: &Fixture) -> bool {
    String::from_utf8_lossy(&fixture.source).contains("\n// needs: watch\n")
}

/// Whether the bench may look at its candidates as they run.
fn has_watch() -> bool {
    let facts = LocalBench::start(crate::settings()).unwrap().facts();
    facts.sandbox.iter().any(|layer| layer == "watch")
}

/// Whether this machine has the second compiler.
pub(crate) fn has_clang() -> bool {
    let clang = std::process::Command::new("clang")
        .arg("--version")
        .output();
    clang.is_ok_and(|output| output.status.success())
}

/// Judges all, each at its own number of threads; in the order given. The machine may fail none of
/// them.
pub(crate) fn judge(settings: &Settings, fixtures: &[Fixture]) -> Vec<Judgement> {
    let judged = judge_each(settings, fixtures).into_iter();
    let judged = judged.zip(fixtures).map(|(judged, fixture)| match judged {
        Ok(judgement) => judgement,
        Err(error) => panic!("{}: {error:?}", fixture.name),
    });
    judged.collect()
}

/// The same, and whoever asks says what a failure of the machine means.
pub(crate) fn judge_each(
    settings: &Settings,
    fixtures: &[Fixture],
) -> Vec<Result<Judgement, BenchError>> {
    let mut judged: BTreeMap<usize, Result<Judgement, BenchError>> = BTreeMap::new();
    let mut alike: Vec<(How, Vec<usize>)> = Vec::new();
    for (index, fixture) in fixtures.iter().enumerate() {
        let how = fixture.how(settings.how);
        match alike.iter_mut().find(|(known, _)| *known == how) {
            Some((_, indices)) => indices.push(index),
            None => alike.push((how, vec![index])),
        }
    }
    for (how, indices) in alike {
        let mut bench = LocalBench::start(Settings {
            how,
            ..settings.clone()
        })
        .unwrap();
        let mut tasks: BTreeMap<String, Arc<Task>> = BTreeMap::new();
        let mut jobs = Vec::new();
        for index in indices {
            let fixture = &fixtures[index];
            let task = tasks
                .entry(fixture.task.clone())
                .or_insert_with(|| Arc::new(hotloop_bench::tasks::load(&fixture.task).unwrap()));
            match Candidate::from_source(&fixture.source, task) {
                Ok(candidate) => {
                    let (id, stage) = (JobId(index as u64), fixture.stage);
                    jobs.push(Job {
                        id,
                        task: Arc::clone(task),
                        candidate,
                        stage,
                    });
                }
                Err(malformed) => {
                    let verdict = Verdict::Malformed { why: malformed.why };
                    judged.insert(
                        index,
                        Ok(Judgement {
                            verdict,
                            seconds: hotloop_flow::bench::Seconds::default(),
                        }),
                    );
                }
            }
        }
        judged.extend(ask(&mut bench, jobs));
    }
    judged.into_values().collect()
}

/// Judges `jobs`. A machine that had no processor to give has told nothing of a candidate, and is
/// asked again.
pub(crate) fn ask(
    bench: &mut LocalBench,
    jobs: Vec<Job>,
) -> BTreeMap<usize, Result<Judgement, BenchError>> {
    let mut judged = BTreeMap::new();
    let mut left = jobs;
    let mut attempts = 0;
    while !left.is_empty() {
        attempts += 1;
        assert!(
            attempts <= ATTEMPTS,
            "{} candidates got no processor in {ATTEMPTS} attempts",
            left.len()
        );
        bench.submit(left.clone()).unwrap();
        while bench.pending() > 0 {
            let reply = bench
                .next(PATIENCE)
                .unwrap()
                .expect("a reply within ten minutes");
            let had_none = |error: &BenchError| error.what.contains("hardly had a processor");
            if !reply.judged.as_ref().is_err_and(had_none) {
                judged.insert(reply.id.0 as usize, reply.judged);
            }
        }
        left.retain(|job| !judged.contains_key(&(job.id.0 as usize)));
    }
    judged
}

/// A job for `source` as a candidate of a shipped task.
pub(crate) fn job(id: u64, task: &str, source: &str) -> Job {
    let task = Arc::new(hotloop_bench::tasks::load(task).unwrap());
    let candidate = Candidate::from_source(source.as_bytes(), &task).unwrap();
    Job {
        id: JobId(id),
        task,
        candidate,
        stage: None,
    }
}

/// All replies that the bench still owes, in the order in which they come.
pub(crate) fn drain(bench: &mut LocalBench) -> Vec<hotloop_flow::Reply> {
    let mut replies = Vec::new();
    while bench.pending() > 0 {
        replies.push(
            bench
                .next(PATIENCE)
                .unwrap()
                .expect("a reply within ten minutes"),
        );
    }
    replies
}
