//! One answer's verdict, as a file keeps it.

use std::path::Path;

use hotloop_bench::torch::{Judged, Measured, Times};
use hotloop_flow::fast::{Over, Scored};
use hotloop_flow::measured::{Checks, Work};
use hotloop_flow::verdict::{Mismatch, Phase};
use hotloop_flow::{Label, Timing, Verdict};
use serde::{Deserialize, Serialize};

use crate::cmd::bench::problems::Named;

/// What was judged, and where.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::cmd) struct Asked {
    pub(in crate::cmd) task: String,
    /// BLAKE3 of the problem's text.
    source: String,
    /// The answer's file.
    pub(in crate::cmd) answer: String,
    /// BLAKE3 of the answer's text.
    text: String,
    /// Whether `torch.compile` was asked for.
    with_compiled: bool,
    limit_s: f64,
    /// Timed runs that were asked for at least.
    #[serde(default)]
    runs: u32,
    /// The GPU that judged, if there was one.
    gpu: Option<String>,
    /// The version of torch.
    torch: Option<String>,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::cmd) struct Record {
    #[serde(flatten)]
    pub(in crate::cmd) asked: Asked,
    pub(in crate::cmd) verdict: Label,
    /// Why it is not correct.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cmd) why: Option<String>,
    /// What took too long, if something did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    during: Option<Phase>,
    /// Seconds of one call: the median.
    pub(in crate::cmd) seconds: Option<f64>,
    pub(in crate::cmd) eager_s: Option<f64>,
    pub(in crate::cmd) compiled_s: Option<f64>,
    /// How many times as fast as both, if it is correct.
    pub(in crate::cmd) over_eager: Option<f64>,
    pub(in crate::cmd) over_compiled: Option<f64>,
    /// The worst error, in units of the scale.
    pub(in crate::cmd) error: Option<f64>,
    pub(in crate::cmd) timing: Option<Timing>,
}

/// The circumstances of a command.
pub(in crate::cmd) struct Circumstances {
    pub(in crate::cmd) with_compiled: bool,
    pub(in crate::cmd) limit_s: f64,
    pub(in crate::cmd) runs: u32,
    pub(in crate::cmd) gpu: Option<String>,
    pub(in crate::cmd) torch: Option<String>,
}

impl Circumstances {
    pub(in crate::cmd) fn asked(&self, problem: &Named, answer: &Path, text: &str) -> Asked {
        let hash = |text: &str| blake3::hash(text.as_bytes()).to_hex().to_string();
        Asked {
            task: problem.name.clone(),
            source: hash(&problem.source),
            answer: answer.display().to_string(),
            text: hash(text),
            with_compiled: self.with_compiled,
            limit_s: self.limit_s,
            runs: self.runs,
            gpu: self.gpu.clone(),
            torch: self.torch.clone(),
        }
    }
}

impl Record {
    pub(in crate::cmd) fn of(asked: Asked, judged: &Judged) -> Self {
        let label = judged.verdict.label();
        let measured = judged.verdict.measured();
        let seconds = measured.map(|measured| measured.seconds);
        let torch = judged.torch.as_ref();
        let median = |side: Option<&Measured<Times>>| Some(side?.got()?.median_s);
        let eager_s = median(torch.map(|torch| &torch.eager));
        let compiled_s = median(torch.and_then(|torch| torch.compiled.as_ref()));
        // A speed that cannot be true is shown and is no speed-up.
        let own_s = seconds.filter(|_| label == Label::Correct);
        let error = match &judged.verdict {
            Verdict::Wrong(mismatch) => Some(mismatch.error),
            _ => measured.map(|measured| measured.checks.error),
        };
        Self {
            asked,
            verdict: label,
            why: (label != Label::Correct).then(|| judged.verdict.detail()),
            during: match judged.verdict {
                Verdict::TimedOut { during, .. } => Some(during),
                _ => None,
            },
            seconds,
            eager_s,
            compiled_s,
            over_eager: own_s.zip(eager_s).map(|(own_s, it)| it / own_s),
            over_compiled: own_s.zip(compiled_s).map(|(own_s, it)| it / own_s),
            error: error.filter(|error| error.is_finite()),
            timing: measured.map(|measured| measured.timing.clone()),
        }
    }

    /// The verdict, as far as a reward reads it.
    pub(super) fn judged(&self) -> Verdict {
        let why = || self.why.clone().unwrap_or_default();
        match self.verdict {
            Label::Malformed => Verdict::Malformed { why: why() },
            Label::Refused => Verdict::Refused { why: why() },
            Label::NotCompiled => Verdict::NotCompiled { diagnostics: why() },
            Label::TimedOut => Verdict::TimedOut {
                limit_s: self.asked.limit_s,
                during: self.during.unwrap_or(Phase::Run),
            },
            Label::Crashed => Verdict::Crashed { how: why() },
            Label::Wrong => Verdict::Wrong(Mismatch {
                why: why(),
                error: self.error.unwrap_or(f64::INFINITY),
                paper: false,
            }),
            Label::Suspect => Verdict::Suspect {
                why: why(),
                measured: self.measured(),
            },
            Label::Correct => Verdict::Correct(self.measured()),
        }
    }

    fn measured(&self) -> hotloop_flow::Measured {
        let seconds = self.seconds.unwrap_or(f64::NAN);
        hotloop_flow::Measured {
            seconds,
            work: Work::default(),
            baseline: None,
            roof: None,
            checks: Checks {
                paper: true,
                strict: true,
                error: self.error.unwrap_or_default(),
            },
            timing: self
                .timing
                .clone()
                .unwrap_or_else(|| Timing::steady(seconds)),
        }
    }

    pub(in crate::cmd) fn scored(&self) -> Scored {
        Scored {
            label: self.verdict,
            over: Over {
                eager: self.over_eager,
                compiled: self.over_compiled,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hotloop_bench::torch::{Baselines, Precision};

    fn judged(verdict: Verdict) -> Judged {
        let times = |median_s| {
            Measured::Got(Times {
                median_s,
                min_s: median_s,
                cv: 0.0,
                runs: 5,
            })
        };
        Judged {
            verdict,
            torch: Some(Baselines {
                eager: times(3e-3),
                compiled: Some(times(1e-3)),
                reference: Measured::Got(Precision { error: Some(1e-7) }),
            }),
        }
    }

    fn record(verdict: Verdict) -> Record {
        let problem = Named {
            name: "kernelbench/1/19".to_owned(),
            source: String::new(),
        };
        let circumstances = Circumstances {
            with_compiled: true,
            limit_s: 10.0,
            runs: 0,
            gpu: None,
            torch: None,
        };
        let asked = circumstances.asked(&problem, Path::new("a.py"), "class ModelNew: pass");
        Record::of(asked, &judged(verdict))
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let measured = hotloop_flow::Measured::steady(None, 2e-3);
        let written = record(Verdict::Correct(measured));
        assert!((written.over_eager.unwrap() - 1.5).abs() < 1e-12);
        assert!((written.over_compiled.unwrap() - 0.5).abs() < 1e-12);
        let text = serde_json::to_string(&written).unwrap();
        assert!(text.contains("\"verdict\":\"correct\""), "{text}");
        assert_eq!(serde_json::from_str::<Record>(&text).unwrap(), written);
    }

    #[test]
    fn only_what_is_correct_has_a_speed_up() {
        let measured = hotloop_flow::Measured::steady(None, 2e-6);
        let why = "too fast".to_owned();
        let suspect = record(Verdict::Suspect { why, measured });
        assert_eq!((suspect.over_eager, suspect.over_compiled), (None, None));
        assert!(suspect.seconds.is_some() && suspect.why.is_some());
        let mismatch = hotloop_flow::verdict::Mismatch {
            why: "output[0] is nan but should be 1".to_owned(),
            error: f64::INFINITY,
            paper: false,
        };
        let wrong = record(Verdict::Wrong(mismatch));
        assert_eq!((wrong.seconds, wrong.error), (None, None));
        assert_eq!(wrong.eager_s, Some(3e-3));
    }
}
