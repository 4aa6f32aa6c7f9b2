//! The output of `hotloop judge --json`: one JSON object per line.

use hotloop_flow::Language;
use hotloop_flow::bench::Seconds;
use hotloop_flow::{
    Baseline, BenchError, Judgement, Label, MachineFacts, Measured, Timing, Verdict,
};
use serde::Serialize;
use serde_json::{Map, Value};

/// One judged file. Every key is always there, except those marked.
#[derive(Debug, Serialize)]
pub(crate) struct Line<'a> {
    file: &'a str,
    task: &'a str,
    language: Language,
    verdict: Option<Label>,
    detail: String,
    reward: Option<f64>,
    seconds_per_call: Option<f64>,
    gflops: Option<f64>,
    gflops_paper: Option<f64>,
    peak_fraction: Option<f64>,
    gb_per_s: Option<f64>,
    roof_fraction: Option<f64>,
    openblas_ratio: Option<f64>,
    baseline: Option<&'a Baseline>,
    verify: Option<VerifyLine>,
    timing: Option<&'a Timing>,
    machine: &'a MachineFacts,
    seconds: Option<Seconds>,
    notes: &'a [String],
    /// Only with `--repeat`: which round, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    round: Option<u32>,
    /// Only with `--completions`: the other keys of the object.
    #[serde(skip_serializing_if = "Map::is_empty")]
    carried: &'a Map<String, Value>,
    /// Only if the machine failed; there is no verdict then.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct VerifyLine {
    paper: bool,
    strict: bool,
    /// `null` for an error that is NaN or infinite.
    error: Option<f64>,
}

/// The subject of a line.
pub(crate) struct About<'a> {
    pub(crate) file: &'a str,
    pub(crate) task: &'a str,
    pub(crate) language: Language,
    pub(crate) notes: &'a [String],
    pub(crate) carried: &'a Map<String, Value>,
    pub(crate) round: Option<u32>,
    pub(crate) machine: &'a MachineFacts,
}

impl<'a> Line<'a> {
    /// The line of one judgement, or of the machine's failure to reach it.
    pub(crate) fn new(
        about: &About<'a>,
        judged: &'a Result<Judgement, BenchError>,
        reward: Option<f64>,
    ) -> Self {
        let judgement = judged.as_ref().ok();
        let error = judged.as_ref().err();
        let verdict = judgement.map(|judgement| &judgement.verdict);
        let measured = verdict.and_then(Verdict::measured);
        Self {
            file: about.file,
            task: about.task,
            language: about.language,
            verdict: verdict.map(Verdict::label),
            detail: verdict.map(Verdict::detail).unwrap_or_default(),
            reward,
            seconds_per_call: measured.map(|measured| measured.seconds),
            gflops: measured.and_then(Measured::gflops),
            gflops_paper: measured.and_then(Measured::gflops_paper),
            peak_fraction: measured.and_then(Measured::peak_fraction),
            gb_per_s: measured
                .and_then(Measured::bandwidth)
                .map(|bytes| bytes / 1e9),
            roof_fraction: measured.and_then(Measured::roof_fraction),
            openblas_ratio: measured.and_then(Measured::openblas_ratio),
            baseline: measured.and_then(|measured| measured.baseline.as_ref()),
            verify: verdict.and_then(verify),
            timing: measured.map(|measured| &measured.timing),
            machine: about.machine,
            seconds: judgement.map(|judgement| judgement.seconds),
            notes: about.notes,
            round: about.round,
            carried: about.carried,
            error: error.map(|error| error.what.as_str()),
            hint: error.and_then(|error| error.hint.as_deref()),
        }
    }
}

fn verify(verdict: &Verdict) -> Option<VerifyLine> {
    let finite = |error: f64| Some(error).filter(|error| error.is_finite());
    match verdict {
        Verdict::Wrong(mismatch) => Some(VerifyLine {
            paper: mismatch.paper,
            strict: false,
            error: finite(mismatch.error),
        }),
        Verdict::Correct(measured) | Verdict::Suspect { measured, .. } => {
            let checks = &measured.checks;
            Some(VerifyLine {
                paper: checks.paper,
                strict: checks.strict,
                error: finite(checks.error),
            })
        }
        Verdict::Malformed { .. }
        | Verdict::Refused { .. }
        | Verdict::NotCompiled { .. }
        | Verdict::TimedOut { .. }
        | Verdict::Crashed { .. } => None,
    }
}
