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
mod tests {
    use super::*;

    fn group() -> Group {
        let task = Arc::new(hotloop_bench::tasks::load("transpose").unwrap());
        let candidate = Candidate::from_source(task.seed.as_bytes(), &task).unwrap();
        let job = Job {
            id: JobId(7),
            task,
            candidate,
            stage: Stage::try_from(2).ok(),
        };
        let terms = Terms::of(&Settings::new("/bin/true".into())).unwrap();
        Group::new("scope", &terms, [("a", &job), ("b", &job)])
    }

    #[test]
    fn a_group_arrives_as_it_was_sent() {
        let sent = group();
        assert_eq!(sent.tasks.len(), 1, "one task travels once");
        let came = Group::read(&sent.bytes()).unwrap();
        assert_eq!(came, sent);
        let jobs = came.jobs().unwrap();
        assert_eq!(jobs.len(), 2);
        assert_eq!(jobs[1].task.spec.name, "transpose");
        assert_eq!(jobs[1].candidate.source(), jobs[1].task.seed);
        let task = hotloop_bench::tasks::load("transpose").unwrap();
        assert_eq!(*jobs[1].task, task, "its hash is the same everywhere");
    }

    #[test]
    fn a_task_that_breaks_a_rule_is_refused() {
        let refused = |from: &str, to: &str| {
            let mut bad = group();
            let toml = bad.tasks[0].toml.replace(from, to);
            assert_ne!(toml, bad.tasks[0].toml);
            bad.tasks[0].toml = toml;
            let read = Group::read(&bad.bytes()).unwrap();
            read.jobs().unwrap_err()
        };
        for name in [
            "../../etc/passwd",
            "a/b/c",
            "a/",
            "",
            "A",
            "a\\u0000b",
            ".",
            "transpose\\n",
        ] {
            let why = refused("name = \"transpose\"", &format!("name = \"{name}\""));
            assert!(why.starts_with("task.toml: name `"), "{name}: {why}");
        }
        let why = refused("entry = \"transpose\"", "entry = \"f(){}int x\"");
        assert!(why.contains("entry"), "{why}");
        let mut module = group();
        module.tasks[0].toml = "name = \"m\"\nsummary = \"s\"\nlanguage = \"torch\"\nclass = \"Model\"\ncost = { bytes = \"0\" }\nverify = { method = \"full\", bound = \"1\", why = \"w\" }\n".to_owned();
        let why = Group::read(&module.bytes()).unwrap().jobs().unwrap_err();
        assert_eq!(why, "tasks in torch cannot be judged by this version");
    }

    #[test]
    fn groups_out_of_bounds_are_refused() {
        let refused = |change: &dyn Fn(&mut Group)| {
            let mut bad = group();
            change(&mut bad);
            Group::read(&bad.bytes()).unwrap_err()
        };
        assert!(refused(&|group| group.version = 9).contains("one hotloop"));
        let old = br#"{"version":1,"what":"another version had other fields"}"#;
        for why in [
            Group::read(old).unwrap_err(),
            GroupReply::read(old).unwrap_err(),
        ] {
            assert!(
                why.starts_with("version 1 of the messages wrote it"),
                "{why}"
            );
        }
        assert!(refused(&|group| group.scope = "a.b".into()).contains("scope"));
        assert!(refused(&|group| group.terms.how.threads = 0).contains("settings"));
        assert!(refused(&|group| group.terms.limit_s = 1e9).contains("settings"));
        assert!(refused(&|group| group.jobs.clear()).contains("jobs"));
        assert!(refused(&|group| group.jobs[0].task = 5).contains("bounds"));
        assert!(refused(&|group| group.jobs[0].id = "*".into()).contains("bounds"));
        assert!(
            refused(&|group| group.jobs[0].source = "x".repeat(SOURCE_BYTES + 1))
                .contains("bounds")
        );
        assert!(Group::read(b"{}").is_err() && Group::read(b"\xff").is_err());
        assert!(
            Group::read(&vec![b' '; MESSAGE_BYTES + 1])
                .unwrap_err()
                .contains("bytes")
        );
    }

    #[test]
    fn speeds_and_times_must_be_possible() {
        let read = |gflops: Option<f64>, seconds: f64| {
            let verdict = hotloop_flow::Verdict::Correct(hotloop_flow::verdict::Measured::steady(
                gflops, seconds,
            ));
            let judgement = Judgement {
                verdict,
                seconds: hotloop_flow::bench::Seconds::default(),
            };
            let reply = WireReply {
                id: "a".into(),
                judged: Judged::Judgement(judgement),
            };
            GroupReply::read(&GroupReply::new((1, 1), "worker", None, vec![reply]).bytes())
        };
        assert!(read(Some(5.0), 0.001).is_ok());
        assert!(read(None, 0.001).is_ok(), "a task may count no operations");
        for (gflops, seconds) in [
            (Some(-1.0), 0.001),
            (Some(0.0), 0.001),
            (Some(f64::INFINITY), 0.001),
            (Some(f64::NAN), 0.001),
            (Some(5.0), 0.0),
            (None, 0.0),
            (Some(5.0), -1.0),
        ] {
            assert!(
                read(gflops, seconds).is_err(),
                "{gflops:?} GFLOPS, {seconds} s"
            );
        }
    }

    #[test]
    fn a_compilers_path_is_not_sent() {
        let settings = Settings {
            compiler_path: Some("/opt/cc".into()),
            ..Settings::new("/bin/true".into())
        };
        let error = Terms::of(&settings).unwrap_err();
        assert_eq!(
            (error.kind, error.remedies.as_slice()),
            (ErrorKind::User, [Remedy::CompilerPath].as_slice())
        );
    }
}
