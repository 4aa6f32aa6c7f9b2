//! Judges many candidates.

use std::sync::Arc;
use std::time::Duration;

use hotloop_bench::LocalBench;
use hotloop_flow::{Bench, BenchError, Job, JobId, Judgement, Stage, Task};
use hotloop_flow::{Candidate, Verdict, bench::Seconds};

/// How long nothing may come.
const PATIENCE: Duration = Duration::from_mins(2);

pub(crate) type Judged = Result<Judgement, BenchError>;

/// A candidate that may be malformed.
#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) task: Arc<Task>,
    pub(crate) candidate: Result<Candidate, String>,
    pub(crate) stage: Option<Stage>,
}

impl Entry {
    /// A source as it is in a file.
    pub(crate) fn source(task: &Arc<Task>, source: &str, stage: Option<Stage>) -> Self {
        let candidate = Candidate::from_source(source.as_bytes(), task);
        Self {
            task: Arc::clone(task),
            candidate: candidate.map_err(|malformed| malformed.why),
            stage,
        }
    }

    /// The same with another hash.
    pub(crate) fn again(&self, number: usize) -> Self {
        let source = self.candidate.as_ref().map(Candidate::source);
        source.map_or_else(
            |_| self.clone(),
            |source| {
                let other = format!("// candidate {number}\n{source}");
                Self::source(&self.task, &other, self.stage)
            },
        )
    }
}

/// Judges all at once. `each` hears of them in the order in which they finish.
pub(crate) fn judge(
    bench: &mut LocalBench,
    entries: &[Entry],
    mut each: impl FnMut(usize),
) -> Result<Vec<Judged>, BenchError> {
    let mut judged: Vec<Option<Judged>> = entries.iter().map(|_| None).collect();
    let mut jobs = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        match &entry.candidate {
            Ok(candidate) => jobs.push(Job {
                id: JobId(index as u64),
                task: Arc::clone(&entry.task),
                candidate: candidate.clone(),
                stage: entry.stage,
            }),
            Err(why) => {
                judged[index] = Some(Ok(Judgement {
                    verdict: Verdict::Malformed { why: why.clone() },
                    seconds: Seconds::default(),
                }));
            }
        }
    }
    let count = jobs.len();
    bench.submit(jobs)?;
    for _ in 0..count {
        let Some(reply) = bench.next(PATIENCE)? else {
            break;
        };
        let index = reply.id.0 as usize;
        judged[index] = Some(reply.judged);
        each(index);
    }
    let silent = || Err(BenchError::machine("no reply within two minutes"));
    Ok(judged
        .into_iter()
        .map(|it| it.unwrap_or_else(silent))
        .collect())
}

/// A verdict's name, or that the machine failed.
pub(crate) fn label(judged: &Judged) -> &'static str {
    judged
        .as_ref()
        .map_or("no verdict", |judgement| judgement.verdict.label().name())
}

/// What there is to say about it, in one line.
pub(crate) fn detail(judged: &Judged) -> String {
    let text = match judged {
        Ok(judgement) => judgement.verdict.detail(),
        Err(error) => error.what.clone(),
    };
    let first = text.lines().next().unwrap_or_default();
    first.chars().take(150).collect()
}
