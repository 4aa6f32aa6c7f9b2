//! The messages: groups of jobs one way, their verdicts the other, and the workers' beats.
//!
//! A group is one message and gets one message as its answer. So one machine times its candidates,
//! whatever dies meanwhile. Everything that arrives is checked before use.

mod beat;
mod version;

use std::sync::Arc;

use hotloop_bench::Settings;
use hotloop_bench::sandbox::Layer;
use hotloop_flow::task::{Task, TaskFiles};
use hotloop_flow::{
    BenchError, Candidate, ErrorKind, How, Job, JobId, Judgement, Language, Remedy, Stage,
};
use serde::{Deserialize, Serialize};

pub use beat::{Beat, State, WorkerNoise};
pub(crate) use version::VERSION;

/// The header that says how many jobs a group has.
pub(crate) const COUNT: &str = "Hotloop-Count";
/// The stream of groups: a work queue.
pub(crate) const JOBS: &str = "HOTLOOP_JOBS";
/// The stream of replies: kept until their coordinator has taken them.
pub(crate) const VERDICTS: &str = "HOTLOOP_VERDICTS";
/// The stream of advisories on groups that were delivered too often.
pub(crate) const LOST: &str = "HOTLOOP_LOST";
/// The stream of beats: the last of each worker, for a few seconds.
pub(crate) const WORKERS: &str = "HOTLOOP_WORKERS";

/// Maximum size of a message. The generated server's limit is larger.
pub(crate) const MESSAGE_BYTES: usize = 6 << 20;
/// Bytes of source in one group, so that it fits into a message with JSON's overhead.
pub(crate) const GROUP_BYTES: usize = 2 << 20;
/// Candidates in one group.
pub(crate) const GROUP_JOBS: usize = 256;
/// Maximum size of a source, as for all candidates.
const SOURCE_BYTES: usize = 256 << 10;
/// The longest text in a reply.
const TEXT_BYTES: usize = 64 << 10;

/// The subject of groups for machines of a class.
pub(crate) fn jobs_subject(class: &str, scope: &str) -> String {
    format!("hotloop.jobs.{class}.{scope}")
}

/// The subject of replies to a scope.
pub(crate) fn verdicts_subject(scope: &str) -> String {
    format!("hotloop.verdicts.{scope}")
}

/// The subject of a worker's beats.
pub(crate) fn worker_subject(worker: &str) -> String {
    format!("hotloop.workers.{worker}")
}

/// Parses a message. It checks the version first, because another version may have other fields.
fn parse<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    #[derive(Deserialize)]
    struct Versioned {
        version: u32,
    }
    if bytes.len() > MESSAGE_BYTES {
        return Err(format!(
            "{} bytes are more than {MESSAGE_BYTES}",
            bytes.len()
        ));
    }
    let unreadable = |error: serde_json::Error| error.to_string();
    let Versioned { version } = serde_json::from_slice(bytes).map_err(unreadable)?;
    if version != VERSION {
        return Err(format!(
            "version {version} of the messages wrote it, and this hotloop reads version {VERSION}: \
             use one hotloop everywhere"
        ));
    }
    serde_json::from_slice(bytes).map_err(unreadable)
}

/// Whether a text can be one word of a subject and of a consumer's name.
pub(crate) fn is_word(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 80
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

/// The settings that the coordinator chooses. Workers choose slots, cores and paths.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Terms {
    pub(crate) how: How,
    /// The languages of the jobs.
    pub(crate) languages: Vec<Language>,
    pub(crate) limit_s: f64,
    pub(crate) runs: u32,
    pub(crate) rounds: u32,
    pub(crate) reuse: bool,
    pub(crate) without: Vec<Layer>,
}

impl Terms {
    /// The terms in the settings.
    pub fn of(settings: &Settings) -> Result<Self, BenchError> {
        if let Some(path) = &settings.compiler_path {
            return Err(BenchError::user(format!(
                "{}: a compiler's path cannot be chosen for the machines of a fleet",
                path.display()
            ))
            .hint("leave it out: each worker uses the gcc or clang in its own PATH")
            .remedies(&[Remedy::CompilerPath]));
        }
        Ok(Self {
            how: settings.how,
            languages: settings.languages.clone(),
            limit_s: settings.limit_s,
            runs: settings.runs,
            rounds: settings.rounds,
            reuse: settings.reuse,
            without: settings.without.clone(),
        })
    }

    /// The settings of a bench with these terms. `base` holds the worker's choices.
    pub(crate) fn settings(&self, base: &Settings, slots: u32) -> Settings {
        Settings {
            how: self.how,
            languages: self.languages.clone(),
            limit_s: self.limit_s,
            runs: self.runs,
            rounds: self.rounds,
            reuse: self.reuse,
            without: self.without.clone(),
            slots,
            ..base.clone()
        }
    }

    fn is_sane(&self) -> bool {
        (1..=4096).contains(&self.how.threads)
            && (1..=100_000).contains(&self.runs)
            && (1..=100).contains(&self.rounds)
            && (0.001..=600.0).contains(&self.limit_s)
            && self.without.len() <= 8
            && (1..=Language::ALL.len()).contains(&self.languages.len())
    }
}

/// One candidate to judge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WireJob {
    pub(crate) id: String,
    /// The index of its task in the group.
    pub(crate) task: usize,
    pub(crate) source: String,
    pub(crate) stage: Option<Stage>,
}

/// Candidates that one worker judges.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Group {
    version: u32,
    /// The scope that gets the answer.
    pub(crate) scope: String,
    pub(crate) terms: Terms,
    tasks: Vec<TaskFiles>,
    pub(crate) jobs: Vec<WireJob>,
}

impl Group {
    /// A group of jobs; each comes with its id.
    pub(crate) fn new<'a>(
        scope: &str,
        terms: &Terms,
        jobs: impl IntoIterator<Item = (&'a str, &'a Job)>,
    ) -> Self {
        let mut tasks: Vec<Arc<Task>> = Vec::new();
        let mut wired = Vec::new();
        for (id, job) in jobs {
            let task = tasks
                .iter()
                .position(|task| task.hash == job.task.hash)
                .unwrap_or_else(|| {
                    tasks.push(Arc::clone(&job.task));
                    tasks.len() - 1
                });
            wired.push(WireJob {
                id: id.to_owned(),
                task,
                source: job.candidate.source().to_owned(),
                stage: job.stage,
            });
        }
        let files = |task: &Arc<Task>| TaskFiles::from(Task::clone(task));
        Self {
            version: VERSION,
            scope: scope.to_owned(),
            terms: terms.clone(),
            tasks: tasks.iter().map(files).collect(),
            jobs: wired,
        }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        // Strings, numbers and enums always have a JSON form.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Reads and checks a group; the error says why it is refused.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, String> {
        let group: Self = parse(bytes)?;
        if !is_word(&group.scope) || !group.terms.is_sane() {
            return Err("its scope or its settings are out of bounds".to_owned());
        }
        if group.jobs.is_empty() || group.jobs.len() > GROUP_JOBS {
            return Err(format!(
                "{} jobs are not between 1 and {GROUP_JOBS}",
                group.jobs.len()
            ));
        }
        let sound = |job: &WireJob| {
            is_word(&job.id) && job.task < group.tasks.len() && job.source.len() <= SOURCE_BYTES
        };
        if !group.jobs.iter().all(sound) {
            return Err("one of its jobs is out of bounds".to_owned());
        }
        Ok(group)
    }

    /// The jobs for a bench, numbered by their place. The error says which task cannot be used.
    pub(crate) fn jobs(&self) -> Result<Vec<Job>, String> {
        let tasks = self.tasks.iter().map(task).collect::<Result<Vec<_>, _>>()?;
        let job = |(place, job): (usize, &WireJob)| {
            let task = Arc::clone(&tasks[job.task]);
            Job {
                id: JobId(place as u64),
                candidate: Candidate::restore(task.spec.language, job.source.clone()),
                task,
                stage: job.stage,
            }
        };
        Ok(self.jobs.iter().enumerate().map(job).collect())
    }
}

/// A received task, if it follows every rule and can be judged here.
fn task(files: &TaskFiles) -> Result<Arc<Task>, String> {
    let task = Task::parse(files.clone()).map_err(|error| error.to_string())?;
    let supported = task.spec.language.supported();
    supported.map_err(|error| error.to_string())?;
    Ok(Arc::new(task))
}

/// The outcome of one candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) enum Judged {
    /// A verdict and its seconds.
    Judgement(Judgement),
    /// The machine's failure.
    Failure {
        kind: ErrorKind,
        what: String,
        hint: Option<String>,
    },
}

impl From<Result<Judgement, BenchError>> for Judged {
    fn from(judged: Result<Judgement, BenchError>) -> Self {
        match judged {
            Ok(judgement) => Self::Judgement(judgement),
            // Its remedies concern the worker's flags, not the coordinator's.
            Err(error) => Self::Failure {
                kind: error.kind,
                what: error.what,
                hint: error.hint,
            },
        }
    }
}

impl From<Judged> for Result<Judgement, BenchError> {
    fn from(judged: Judged) -> Self {
        match judged {
            Judged::Judgement(judgement) => Ok(judgement),
            Judged::Failure { kind, what, hint } => Err(BenchError {
                kind,
                what,
                hint,
                remedies: Vec::new(),
            }),
        }
    }
}

/// One candidate's part of a reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WireReply {
    pub(crate) id: String,
    pub(crate) judged: Judged,
}

/// A worker's answer to a group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GroupReply {
    version: u32,
    /// The group's place in the stream of jobs.
    pub(crate) sequence: u64,
    /// How often the group was delivered, including this time.
    pub(crate) delivery: u32,
    pub(crate) worker: String,
    /// How steady the worker's machine was when it was last measured.
    pub(crate) noise: Option<WorkerNoise>,
    pub(crate) replies: Vec<WireReply>,
}

impl GroupReply {
    pub(crate) fn new(
        (sequence, delivery): (u64, u32),
        worker: &str,
        noise: Option<WorkerNoise>,
        replies: Vec<WireReply>,
    ) -> Self {
        Self {
            version: VERSION,
            sequence,
            delivery,
            worker: worker.to_owned(),
            noise,
            replies,
        }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Reads and checks a reply; the error says why it is refused.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, String> {
        let reply: Self = parse(bytes)?;
        if !is_word(&reply.worker) || reply.replies.is_empty() || reply.replies.len() > GROUP_JOBS {
            return Err("its worker or its number of verdicts is out of bounds".to_owned());
        }
        let short = |judged: &Judged| match judged {
            Judged::Judgement(judgement) => {
                serde_json::to_string(judgement).is_ok_and(|text| text.len() <= TEXT_BYTES)
                    && judgement.clone().believable().is_ok()
            }
            Judged::Failure { what, hint, .. } => {
                what.len() + hint.as_ref().map_or(0, String::len) <= TEXT_BYTES
            }
        };
        if !reply
            .replies
            .iter()
            .all(|one| is_word(&one.id) && short(&one.judged))
        {
            return Err("one of its verdicts is out of bounds".to_owned());
        }
        Ok(reply)
    }
}

/// BLAKE3 over parts, each with its length, in hex; 32 digits.
pub(crate) fn hash(parts: &[&str]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex()[..32].to_owned()
}

#[cfg(test)]
mod tests;
