//! The task linter. A task must accept its seed and refuse wrong answers.
//!
//! It tries everything on the real bench. It generates bad answers from the task's signature and
//! its reference, and none of them may be judged correct.

mod c_probes;
mod cuda_probes;
mod finding;
mod probe;
mod sizes;

use std::sync::Arc;

use hotloop_flow::verdict::Measured;
use hotloop_flow::{
    BenchError, Candidate, ErrorKind, Job, JobId, Label, Language, Reply, Task, Verdict,
};

use finding::finding;
use probe::{Expect, Probe};

pub use finding::{Finding, Mark};

/// Seconds that a seed should take.
const SEED_S: std::ops::RangeInclusive<f64> = 0.05e-3..=20e-3;
/// Bytes of all buffers together at the timed size, on a CPU.
const BUFFERS: f64 = 16e6;
/// The same on a GPU, which draws and checks a hundred times as fast.
const GPU_BUFFERS: f64 = 2e9;

/// Checks a task. `judge` returns the reply to each job in any order, or the caller's own error,
/// which ends the check.
pub fn lint<E: From<BenchError>>(
    task: Task,
    judge: &mut dyn FnMut(Vec<Job>) -> Result<Vec<Reply>, E>,
) -> Result<Vec<Finding>, E> {
    let task = Arc::new(task);
    let mut findings = vec![finding(Mark::Ok, "task.toml", task.signature())];
    findings.push(prompt(&task));
    findings.extend(sizes::hidden(&task));
    findings.extend(buffers(&task));
    let (seed, more) = seed(&task, judge)?;
    findings.extend(more);
    if seed.is_none() {
        findings.push(finding(
            Mark::Warn,
            "bad answers",
            "not tried: the seed must be correct first",
        ));
        return Ok(findings);
    }
    findings.extend(try_probes(&Arc::new(listed(&task)), judge)?);
    Ok(findings)
}

/// The task without drawn sizes, because probes cannot know the lengths of their buffers and would
/// all be wrong.
fn listed(task: &Task) -> Task {
    let mut task = task.clone();
    task.spec.function_mut().sizes.drawn.clear();
    task
}

fn prompt(task: &Task) -> Finding {
    if !task.prompt.contains(&task.function().entry) {
        finding(
            Mark::Error,
            "prompt",
            format!("does not name the entry point `{}`", task.function().entry),
        )
    } else if !task.prompt.contains(&task.signature()) {
        finding(
            Mark::Warn,
            "prompt",
            "does not hold the signature word for word",
        )
    } else {
        finding(Mark::Ok, "prompt", "holds the signature")
    }
}

fn buffers(task: &Task) -> Option<Finding> {
    let sizes = &task.function().sizes.timed;
    let bytes = |arg: &hotloop_flow::interface::Arg| {
        arg.elements(sizes)
            .map_or(0.0, |elements| (elements * arg.kind.bytes()) as f64)
    };
    let total: f64 = task.function().args.iter().map(bytes).sum();
    let most = match task.spec.language {
        Language::Cuda => GPU_BUFFERS,
        Language::C | Language::Torch => BUFFERS,
    };
    (total > most).then(|| {
        finding(
            Mark::Warn,
            "buffers",
            format!("{:.0} MB at the timed size is slow to judge", total / 1e6),
        )
    })
}

fn seed<E: From<BenchError>>(
    task: &Arc<Task>,
    judge: &mut dyn FnMut(Vec<Job>) -> Result<Vec<Reply>, E>,
) -> Result<(Option<Measured>, Vec<Finding>), E> {
    let candidate = match Candidate::from_source(task.seed.as_bytes(), task) {
        Ok(candidate) => candidate,
        Err(malformed) => {
            return Ok((
                None,
                vec![finding(
                    Mark::Error,
                    "seed",
                    format!("malformed: {malformed}"),
                )],
            ));
        }
    };
    let job = Job {
        id: JobId(0),
        task: Arc::clone(task),
        candidate,
        stage: None,
    };
    let judgement = match judge(vec![job])?.pop().map(|reply| reply.judged) {
        Some(Ok(judgement)) => judgement,
        Some(Err(error)) => return Ok((None, vec![of_task(error)?])),
        None => return Err(BenchError::machine("the seed was not judged").into()),
    };
    let verdict = judgement.verdict;
    let says = format!("{}: {}", verdict.label(), verdict.detail());
    let (measured, mark, says) = match verdict {
        Verdict::Correct(measured) => {
            let speed = match task.spec.language {
                Language::Cuda => measured.rate().map(|rate| format!(", {rate}")),
                Language::C | Language::Torch => measured
                    .gflops()
                    .map(|gflops| format!(", {gflops:.2} GFLOPS")),
            };
            let says = format!(
                "correct, {}{}",
                milliseconds(measured.seconds),
                speed.unwrap_or_default()
            );
            (measured, Mark::Ok, says)
        }
        // Correct, but faster than the task's cost allows.
        Verdict::Suspect { measured, .. } => (
            measured,
            Mark::Error,
            format!("{says}; are the costs in task.toml right?"),
        ),
        _ => return Ok((None, vec![finding(Mark::Error, "seed", says)])),
    };
    let seconds = measured.seconds;
    let mut findings = vec![finding(mark, "seed", says)];
    if !SEED_S.contains(&seconds) {
        findings.push(finding(
            Mark::Warn,
            "seed",
            "takes less than 50 us or more than 20 ms: the size fits timing badly",
        ));
    }
    findings.push(tightness(task, &measured));
    Ok((Some(measured), findings))
}

/// A task's own code that does not build is the task's fault; anything else is the machine's.
fn of_task(error: BenchError) -> Result<Finding, BenchError> {
    if error.kind == ErrorKind::User {
        return Ok(finding(
            Mark::Error,
            "build",
            error.what.replace('\n', "; "),
        ));
    }
    Err(error)
}

fn milliseconds(seconds: f64) -> String {
    format!("{:.3} ms", seconds * 1e3)
}

fn tightness(task: &Task, seed: &Measured) -> Finding {
    let bound = task.bound(&task.function().sizes.timed);
    let error = seed.checks.error;
    if bound == 0.0 {
        return finding(Mark::Ok, "bound", "equality");
    }
    let says = format!("{bound:.1e} of the scale; the seed errs by {error:.1e}");
    if error > bound / 2.0 {
        return finding(
            Mark::Warn,
            "bound",
            format!("{says}: honest candidates may fail"),
        );
    }
    finding(Mark::Ok, "bound", says)
}

fn try_probes<E: From<BenchError>>(
    task: &Arc<Task>,
    judge: &mut dyn FnMut(Vec<Job>) -> Result<Vec<Reply>, E>,
) -> Result<Vec<Finding>, E> {
    let probes = match task.spec.language {
        Language::Cuda => cuda_probes::all(task),
        Language::C | Language::Torch => c_probes::all(task),
    };
    let mut findings: Vec<Option<Finding>> = probes.iter().map(|_| None).collect();
    let mut jobs = Vec::new();
    for (index, probe) in probes.iter().enumerate() {
        match Candidate::from_source(probe.source.as_bytes(), task) {
            Ok(candidate) => {
                jobs.push(Job {
                    id: JobId(index as u64),
                    task: Arc::clone(task),
                    candidate,
                    stage: None,
                });
            }
            Err(malformed) => {
                findings[index] = Some(untried(probe, &format!("malformed: {malformed}")));
            }
        }
    }
    for reply in judge(jobs)? {
        let index = reply.id.0 as usize;
        findings[index] = Some(judged(&probes[index], &reply.judged?.verdict));
    }
    Ok(findings.into_iter().flatten().collect())
}

fn untried(probe: &Probe, why: &str) -> Finding {
    finding(
        Mark::Warn,
        probe.about.as_str(),
        format!("could not be tried: {why}"),
    )
}

fn judged(probe: &Probe, verdict: &Verdict) -> Finding {
    let label = verdict.label();
    let passed = matches!(label, Label::Correct | Label::Suspect);
    let detail = verdict.detail();
    let first = detail.lines().next().unwrap_or_default();
    match (probe.expect, label) {
        (_, Label::Malformed | Label::Refused | Label::NotCompiled) => {
            untried(probe, &format!("{label}: {first}"))
        }
        (Expect::Failure, _) if passed => {
            finding(Mark::Error, probe.about.as_str(), probe.otherwise)
        }
        (Expect::Failure, _) => finding(Mark::Ok, probe.about.as_str(), format!("is {label}")),
        (Expect::Success, _) if passed => finding(Mark::Ok, probe.about.as_str(), probe.then),
        (Expect::Success, _) => finding(
            Mark::Error,
            probe.about.as_str(),
            format!("{} ({label}: {first})", probe.otherwise),
        ),
    }
}
