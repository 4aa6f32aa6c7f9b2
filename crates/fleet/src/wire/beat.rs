//! A worker's report about itself, sent every few seconds.

use hotloop_flow::MachineFacts;
use hotloop_flow::how::Compiler;
use serde::{Deserialize, Serialize};

use super::version::VERSION;

/// How steady a worker's machine is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkerNoise {
    /// Share of short probes that ran at the machine's floor.
    pub calm: f64,
    /// Coefficient of variation of the arithmetic peak.
    pub peak_cv: f64,
    /// GFLOPS at best.
    pub peak_gflops: f64,
}

/// The state of a worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It takes jobs.
    Ready,
    /// It finishes its jobs and takes no more.
    Draining,
    /// Its machine is not fit to judge; it takes nothing.
    Quarantined(String),
}

/// A worker's report about itself, sent every few seconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Beat {
    pub version: u32,
    /// Its name.
    pub worker: String,
    /// Its machine's name.
    pub host: String,
    /// Its process.
    pub pid: u32,
    /// Machines whose timings can be compared; jobs are sent to a class.
    pub class: String,
    /// The machine, for each compiler that candidates can be built with.
    pub machine: Vec<(Compiler, MachineFacts)>,
    /// The machine as it judges candidates in CUDA, if it has a GPU for them.
    pub cuda: Option<MachineFacts>,
    /// Number of candidates that it can time at the same time.
    pub slots: u32,
    /// Its logical cores.
    pub cores: Vec<usize>,
    /// Maximum number of threads of a candidate: one per physical core.
    pub threads: u32,
    /// What it is up to.
    pub state: State,
    /// How steady its machine is.
    pub noise: Option<WorkerNoise>,
    /// Number of candidates in progress.
    pub busy: u32,
    /// Verdicts since it began.
    pub judged: u64,
    /// Failures of its machine since it began.
    pub failed: u64,
    /// Verdicts in its last minute.
    pub per_minute: f64,
    /// Seconds since it began.
    pub up_s: f64,
    /// The last failure of its machine.
    pub last_error: Option<String>,
}

/// What is known about a worker with another version. The first version had no version number.
#[derive(Deserialize)]
struct Stranger {
    #[serde(default = "first")]
    version: u32,
    worker: String,
    #[serde(default)]
    host: String,
    #[serde(default)]
    pid: u32,
    #[serde(default)]
    class: String,
}

fn first() -> u32 {
    1
}

impl Beat {
    /// Reads a beat. A worker with another version appears as quarantined, with the reason, so that
    /// users who wait for workers learn why it takes no jobs.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let stranger: Stranger = serde_json::from_slice(bytes).ok()?;
        if stranger.version == VERSION {
            return serde_json::from_slice(bytes).ok();
        }
        let why = format!(
            "version {} of the messages wrote its beat, and this hotloop reads version {VERSION}: \
             use one hotloop everywhere",
            stranger.version
        );
        Some(Self {
            version: stranger.version,
            worker: stranger.worker,
            host: stranger.host,
            pid: stranger.pid,
            class: stranger.class,
            machine: Vec::new(),
            cuda: None,
            slots: 0,
            cores: Vec::new(),
            threads: 0,
            state: State::Quarantined(why),
            noise: None,
            busy: 0,
            judged: 0,
            failed: 0,
            per_minute: 0.0,
            up_s: 0.0,
            last_error: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_of_another_version_is_shown_with_the_reason() {
        let state = |bytes: &[u8]| Beat::read(bytes).map(|beat| (beat.worker, beat.state));
        for (version, bytes) in [
            (
                1,
                br#"{"worker":"w","host":"h","what":"it had"}"#.as_slice(),
            ),
            (99, br#"{"version":99,"worker":"w","new":[]}"#),
        ] {
            let Some((worker, State::Quarantined(why))) = state(bytes) else {
                panic!("version {version} is not shown");
            };
            assert_eq!(worker, "w");
            assert!(why.starts_with(&format!("version {version} of the messages")));
        }
        assert_eq!(state(b"nonsense"), None);
    }
}
