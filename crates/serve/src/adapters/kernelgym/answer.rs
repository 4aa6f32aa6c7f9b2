//! Verdicts in `KernelGYM`'s words.

use hotloop_flow::error::ErrorKind;
use hotloop_flow::verdict::{Phase, Verdict};
use hotloop_flow::{Judgement, Measured};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::board::Outcome;

/// Milliseconds of a second: the protocol's runtimes.
const MS: f64 = 1e3;
const US: f64 = 1e6;

/// How an evaluation stands.
#[derive(Debug, Serialize)]
pub(super) struct Stands {
    task_id: String,
    status: &'static str,
    error_message: Option<String>,
}

/// What came of an evaluation.
#[derive(Debug, Serialize)]
pub(super) struct Answered {
    task_id: String,
    status: &'static str,
    compiled: Option<bool>,
    correctness: Option<bool>,
    decoy_kernel: Option<bool>,
    reference_runtime: Option<f64>,
    kernel_runtime: Option<f64>,
    speedup: Option<f64>,
    metadata: Value,
    error_message: Option<String>,
    error_code: Option<&'static str>,
    processing_time: Option<f64>,
}

impl Stands {
    pub(super) fn of(name: String, outcome: Option<&Outcome>) -> Self {
        let answered = Answered::of(name, outcome);
        Self {
            task_id: answered.task_id,
            status: answered.status,
            error_message: answered.error_message,
        }
    }
}

impl Answered {
    pub(super) fn of(name: String, outcome: Option<&Outcome>) -> Self {
        match outcome {
            None => Self::without(name, "processing"),
            Some(Err(error)) => {
                let code = match error.kind {
                    ErrorKind::User => "VALIDATION_ERROR",
                    ErrorKind::Machine => "SYSTEM_ERROR",
                };
                Self::failed(name, error.what.clone(), code)
            }
            Some(Ok(judgement)) => Self::judged(name, judgement),
        }
    }

    /// An evaluation without a verdict.
    fn without(task_id: String, status: &'static str) -> Self {
        Self {
            task_id,
            status,
            compiled: None,
            correctness: None,
            decoy_kernel: None,
            reference_runtime: None,
            kernel_runtime: None,
            speedup: None,
            metadata: json!({}),
            error_message: None,
            error_code: None,
            processing_time: None,
        }
    }

    fn failed(name: String, why: String, code: &'static str) -> Self {
        Self {
            error_message: Some(why),
            error_code: Some(code),
            ..Self::without(name, "failed")
        }
    }

    fn judged(name: String, judgement: &Judgement) -> Self {
        let verdict = &judgement.verdict;
        let correct = verdict.correct();
        let baseline = verdict.measured().and_then(|it| it.baseline.as_ref());
        let baseline_s = baseline.map(|baseline| baseline.seconds);
        // Its speed-up would be a lie in either direction.
        if correct.is_some() && baseline_s.is_none() {
            let why = "torch itself could not be timed on this problem".to_owned();
            return Self::failed(name, why, "VALIDATION_ERROR");
        }
        let own_s = correct.map(|measured| measured.seconds);
        let speedup = baseline_s
            .zip(own_s)
            .map(|(baseline_s, own_s)| baseline_s / own_s);
        let (code, compiles) = fault(verdict);
        let label = verdict.label();
        Self {
            task_id: name,
            status: "completed",
            compiled: Some(compiles),
            correctness: Some(matches!(
                verdict,
                Verdict::Correct(_) | Verdict::Suspect { .. }
            )),
            // An answer whose `forward` launches nothing, or whose results no kernel wrote, is
            // refused.
            decoy_kernel: Some(false),
            reference_runtime: baseline_s.map(|seconds| MS * seconds),
            kernel_runtime: own_s.map(|seconds| MS * seconds),
            // The client adds this number to its reward. What is suspect has no speed that counts.
            speedup: Some(speedup.unwrap_or(0.0)),
            metadata: Value::Object(metadata(verdict)),
            error_message: correct
                .is_none()
                .then(|| format!("{label}: {}", verdict.detail())),
            error_code: code,
            processing_time: Some(judgement.seconds.total),
        }
    }
}

/// The protocol's word for what is wrong, and whether the module compiles.
fn fault(verdict: &Verdict) -> (Option<&'static str>, bool) {
    match verdict {
        Verdict::Malformed { .. } | Verdict::Refused { .. } => (Some("VALIDATION_ERROR"), false),
        Verdict::NotCompiled { .. } => (Some("COMPILATION_ERROR"), false),
        Verdict::TimedOut { during, .. } => (Some("TIMEOUT_ERROR"), *during == Phase::Run),
        Verdict::Crashed { .. } => (Some("RUNTIME_ERROR"), true),
        Verdict::Wrong(_) => (Some("CORRECTNESS_ERROR"), true),
        Verdict::Suspect { .. } | Verdict::Correct(_) => (None, true),
    }
}

/// What the protocol has no words for. Only the answer's own kernels run in a call, so all of its
/// time is theirs.
fn metadata(verdict: &Verdict) -> Map<String, Value> {
    let mut keys = Map::new();
    keys.insert("verdict".to_owned(), json!(verdict.label()));
    if let Some(measured) = verdict.correct() {
        let Measured {
            seconds,
            baseline,
            timing,
            checks,
            ..
        } = measured;
        let time = json!(US * seconds);
        for key in [
            "custom_kernel_cuda_time_in_profiling_us",
            "total_kernel_run_time_in_profiling_us",
        ] {
            keys.insert(key.to_owned(), time.clone());
        }
        let of = baseline.as_ref().map(|baseline| &baseline.name);
        keys.insert("reference".to_owned(), json!(of));
        keys.insert("timing".to_owned(), json!(timing));
        keys.insert("checks".to_owned(), json!(checks));
    }
    keys
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use hotloop_flow::bench::Seconds;
    use hotloop_flow::measured::Baseline;
    use hotloop_flow::verdict::Mismatch;
    use hotloop_flow::{BenchError, Label};

    use super::*;

    fn told(verdict: Verdict) -> Value {
        let seconds = Seconds {
            total: 3.0,
            ..Seconds::default()
        };
        let outcome = Ok(Arc::new(Judgement { verdict, seconds }));
        json!(Answered::of("t".to_owned(), Some(&outcome)))
    }

    fn measured() -> Measured {
        Measured {
            baseline: Some(Baseline {
                name: "torch, eager".to_owned(),
                seconds: 3e-3,
            }),
            ..Measured::steady(None, 2e-3)
        }
    }

    #[test]
    fn what_is_correct_has_both_times_in_milliseconds() {
        let right = told(Verdict::Correct(measured()));
        assert_eq!(right["status"], "completed");
        assert_eq!(right["reference_runtime"], 3.0);
        assert_eq!(right["kernel_runtime"], 2.0);
        assert_eq!(right["speedup"], 1.5);
        assert_eq!(
            right["metadata"]["total_kernel_run_time_in_profiling_us"],
            2000.0
        );
        assert_eq!(right["processing_time"], 3.0);
        assert_eq!(right["error_message"], Value::Null);
    }

    #[test]
    fn no_suspect_speed_becomes_a_reward() {
        let why = "too fast".to_owned();
        let suspect = told(Verdict::Suspect {
            why,
            measured: measured(),
        });
        assert_eq!(suspect["correctness"], true);
        assert_eq!(
            (&suspect["speedup"], &suspect["kernel_runtime"]),
            (&json!(0.0), &Value::Null)
        );
        assert_eq!(suspect["error_message"], "suspect: too fast");
        assert!(
            !suspect["metadata"].to_string().contains("0.002"),
            "{suspect}"
        );
    }

    #[test]
    fn each_failure_has_its_word() {
        let why = || "it is".to_owned();
        let timed_out = |during| Verdict::TimedOut {
            limit_s: 1.0,
            during,
        };
        let mismatch = Mismatch {
            why: why(),
            error: 1.0,
            paper: false,
        };
        let cases = [
            (Verdict::Malformed { why: why() }, false, "VALIDATION_ERROR"),
            (Verdict::Refused { why: why() }, false, "VALIDATION_ERROR"),
            (
                Verdict::NotCompiled { diagnostics: why() },
                false,
                "COMPILATION_ERROR",
            ),
            (timed_out(Phase::Compile), false, "TIMEOUT_ERROR"),
            (timed_out(Phase::Run), true, "TIMEOUT_ERROR"),
            (Verdict::Crashed { how: why() }, true, "RUNTIME_ERROR"),
            (Verdict::Wrong(mismatch), true, "CORRECTNESS_ERROR"),
        ];
        for (verdict, compiles, code) in cases {
            let label: Label = verdict.label();
            let said = told(verdict);
            assert_eq!(said["status"], "completed", "{label}");
            assert_eq!(said["compiled"], compiles, "{label}");
            assert_eq!(said["correctness"], false, "{label}");
            assert_eq!(said["decoy_kernel"], false, "{label}");
            assert_eq!(said["speedup"], 0.0, "{label}");
            assert_eq!(said["error_code"], code, "{label}");
            let message = said["error_message"].as_str().unwrap();
            assert!(message.starts_with(label.name()), "{message}");
        }
    }

    #[test]
    fn without_a_verdict_nothing_is_completed() {
        let failed = Err(BenchError::machine("the GPU is gone"));
        let failed = json!(Answered::of("t".to_owned(), Some(&failed)));
        assert_eq!(failed["status"], "failed");
        assert_eq!(failed["compiled"], Value::Null);
        assert_eq!(failed["error_message"], "the GPU is gone");
        let stands = json!(Stands::of("t".to_owned(), None));
        assert_eq!(stands["status"], "processing");
        let untimed = told(Verdict::Correct(Measured::steady(None, 2e-3)));
        assert_eq!(untimed["status"], "failed");
    }
}
