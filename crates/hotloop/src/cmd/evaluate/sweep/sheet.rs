//! The figures of a sweep: torch itself first, then each policy.

use std::collections::BTreeMap;

use hotloop_flow::fast::{Fast, Scored, Scores, THRESHOLDS};
use hotloop_flow::statistics::{mean, wilson};
use hotloop_flow::{Label, Reward};
use serde::Serialize;

use super::fate::Fate;

/// All that a sweep found.
#[derive(Debug, Serialize)]
pub(super) struct Sheet {
    pub(super) title: String,
    /// How the policies were asked.
    pub(super) asked: Asked,
    /// The GPU that judged, if there was one.
    pub(super) gpu: Option<String>,
    /// The version of torch, if there was one.
    pub(super) torch: Option<String>,
    pub(super) rows: Vec<Row>,
    /// The names of the policies, in their order.
    pub(super) policies: Vec<String>,
    /// The names of the problems, in their order.
    pub(super) problems: Vec<String>,
    pub(super) answers: Vec<Fate>,
}

/// How the policies were asked.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Asked {
    /// Answers a problem and policy.
    pub(super) count: u32,
    pub(super) temperature: f64,
    pub(super) max_tokens: u32,
    pub(super) seed: u64,
    /// Seconds that one call of an answer could take.
    pub(super) limit_s: f64,
    /// Timed runs at least; with 0 the bench decided.
    pub(super) runs: u32,
    pub(super) reward: Option<Reward>,
}

/// One row: a policy or torch, beside one baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Row {
    pub(super) name: String,
    /// `eager` or `compiled`: what speeds are compared with.
    pub(super) beside: &'static str,
    /// The counts and shares; nothing for torch.
    pub(super) scores: Option<Counted>,
    /// Mean seconds of a call: of the correct answers, or of torch over the measured problems.
    pub(super) seconds: Option<f64>,
    /// Mean seconds of the baseline for the problems of those answers.
    pub(super) baseline_s: Option<f64>,
    /// The geometric mean of the speed-ups.
    pub(super) speed_up: Option<f64>,
}

/// The counts and shares of a policy.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Counted {
    /// Answers with a verdict.
    pub(super) answers: usize,
    /// Answers without one, which count nowhere.
    pub(super) without: usize,
    pub(super) compiled: usize,
    pub(super) correct: usize,
    /// The number of answers with each verdict.
    pub(super) verdicts: BTreeMap<Label, usize>,
    /// The share of correct answers with its 95 % interval (Wilson's), if there are answers.
    pub(super) rate: Option<Rate>,
    /// `fast_p` for 0, 1, 1.2, 1.5 and 2.
    pub(super) fast_p: Option<[f64; THRESHOLDS.len()]>,
    /// Tokens that the policy wrote, if all are known.
    pub(super) tokens: Option<usize>,
    /// Seconds that it took to write.
    pub(super) writing_s: f64,
    /// The mean reward of those that have one.
    pub(super) reward: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Rate {
    pub(super) value: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

/// One of both baselines.
#[derive(Clone, Copy)]
struct Side {
    name: &'static str,
    /// Seconds of the baseline beside an answer.
    seconds: fn(&Fate) -> Option<f64>,
    scores: fn(&Scores) -> Option<&Fast>,
}

const EAGER: Side = Side {
    name: "eager",
    seconds: |fate| fate.eager_s,
    scores: |scores| scores.over.eager.as_ref(),
};
const COMPILED: Side = Side {
    name: "compiled",
    seconds: |fate| fate.compiled_s,
    scores: |scores| scores.over.compiled.as_ref(),
};

/// The rows of some answers. Beside compiled torch only where that was measured.
pub(super) fn rows(policies: &[String], problems: &[String], fates: &[Fate]) -> Vec<Row> {
    let measured = |side: Side| fates.iter().any(|fate| (side.seconds)(fate).is_some());
    let mut rows = Vec::new();
    let sides = [EAGER, COMPILED].into_iter().filter(|side| measured(*side));
    rows.extend(sides.map(|side| torch(side, problems, fates)));
    for policy in policies {
        let of: Vec<&Fate> = fates.iter().filter(|fate| fate.policy == *policy).collect();
        rows.push(row(policy, EAGER, &of));
        if measured(COMPILED) {
            rows.push(row(policy, COMPILED, &of));
        }
    }
    rows
}

/// The mean of what torch takes for a problem, over the runs beside its answers.
pub(super) fn taken(
    problem: &str,
    fates: &[Fate],
    seconds: impl Fn(&Fate) -> Option<f64>,
) -> Option<f64> {
    let of = fates.iter().filter(|fate| fate.task == problem);
    mean_of(&of.filter_map(seconds).collect::<Vec<f64>>())
}

fn mean_of(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| mean(values))
}

/// The row of torch itself.
fn torch(side: Side, problems: &[String], fates: &[Fate]) -> Row {
    let times = |side: Side| -> Vec<Option<f64>> {
        let of = |problem: &String| taken(problem, fates, side.seconds);
        problems.iter().map(of).collect()
    };
    let own = times(side);
    let known: Vec<f64> = own.iter().copied().flatten().collect();
    let both = times(EAGER).into_iter().zip(&own);
    let logarithms: Vec<f64> = both
        .filter_map(|(eager, own)| Some((eager? / (*own)?).ln()))
        .collect();
    Row {
        name: format!(
            "PyTorch {}, {}",
            side.name,
            hotloop_flow::count(known.len(), "problem")
        ),
        beside: EAGER.name,
        scores: None,
        seconds: mean_of(&known),
        baseline_s: None,
        speed_up: mean_of(&logarithms).map(f64::exp),
    }
}

/// The row of a policy.
fn row(policy: &str, side: Side, of: &[&Fate]) -> Row {
    let judged: Vec<Scored> = of.iter().filter_map(|fate| fate.scored()).collect();
    let scores = Scores::of(&judged);
    let correct = || of.iter().filter(|fate| fate.over_eager.is_some());
    let seconds: Vec<f64> = correct().filter_map(|fate| fate.seconds).collect();
    let baseline: Vec<f64> = correct().filter_map(|fate| (side.seconds)(fate)).collect();
    let fast = (side.scores)(&scores);
    let is_scored = scores.answers > 0;
    // Without a correct answer none is fast.
    let none = (is_scored && scores.correct == 0).then_some([0.0; THRESHOLDS.len()]);
    let rate = |scores: &Scores| {
        let (low, high) = wilson(scores.correct, scores.answers);
        let value = scores.correct as f64 / scores.answers as f64;
        Rate { value, low, high }
    };
    let tokens = of.iter().map(|fate| fate.tokens);
    Row {
        name: policy.to_owned(),
        beside: side.name,
        seconds: mean_of(&seconds),
        baseline_s: mean_of(&baseline),
        speed_up: fast.map(|fast| fast.geometric_mean),
        scores: Some(Counted {
            answers: scores.answers,
            without: of.len() - scores.answers,
            compiled: scores.compiled,
            correct: scores.correct,
            verdicts: verdicts(of),
            rate: is_scored.then(|| rate(&scores)),
            fast_p: fast.map(|fast| fast.fast_p).or(none),
            tokens: tokens.sum::<Option<usize>>().filter(|_| !of.is_empty()),
            writing_s: of.iter().map(|fate| fate.writing_s).sum(),
            reward: mean_of(
                &of.iter()
                    .filter_map(|fate| fate.reward)
                    .collect::<Vec<f64>>(),
            ),
        }),
    }
}

fn verdicts(of: &[&Fate]) -> BTreeMap<Label, usize> {
    let mut verdicts = BTreeMap::new();
    for label in of.iter().filter_map(|fate| fate.verdict) {
        *verdicts.entry(label).or_insert(0) += 1;
    }
    verdicts
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn fate(policy: &str, task: u32, verdict: Option<Label>) -> Fate {
        Fate {
            policy: policy.to_owned(),
            task: format!("kernelbench/1/{task}"),
            number: 0,
            tokens: Some(100),
            writing_s: 2.0,
            verdict,
            why: None,
            seconds: None,
            eager_s: None,
            compiled_s: None,
            over_eager: None,
            over_compiled: None,
            reward: None,
            failed: None,
        }
    }

    /// A correct answer that takes `own` milliseconds, where torch takes the others.
    pub(in super::super) fn right(
        policy: &str,
        task: u32,
        own: f64,
        eager: f64,
        compiled: f64,
    ) -> Fate {
        Fate {
            seconds: Some(own / 1e3),
            eager_s: Some(eager / 1e3),
            compiled_s: Some(compiled / 1e3),
            over_eager: Some(eager / own),
            over_compiled: Some(compiled / own),
            ..fate(policy, task, Some(Label::Correct))
        }
    }

    /// Two policies on four problems.
    pub(in super::super) fn sheet() -> Sheet {
        let problems: Vec<String> = (1..=4)
            .map(|task| format!("kernelbench/1/{task}"))
            .collect();
        let policies = ["base", "tuned"].map(str::to_owned).to_vec();
        let answers = vec![
            fate("base", 1, Some(Label::NotCompiled)),
            right("base", 2, 4.0, 2.0, 1.0),
            fate("base", 3, Some(Label::Malformed)),
            fate("base", 4, None),
            right("tuned", 1, 1.0, 4.0, 2.0),
            right("tuned", 2, 2.0, 2.0, 2.0),
            fate("tuned", 3, Some(Label::Refused)),
            fate("tuned", 4, Some(Label::Wrong)),
        ];
        Sheet {
            title: "a | <b>".to_owned(),
            asked: Asked {
                count: 1,
                temperature: 0.0,
                max_tokens: 2048,
                seed: 1,
                limit_s: 10.0,
                runs: 0,
                reward: None,
            },
            gpu: Some("NVIDIA H200".to_owned()),
            torch: None,
            rows: rows(&policies, &problems, &answers),
            policies,
            problems,
            answers,
        }
    }

    fn near(value: Option<f64>, wanted: f64) -> bool {
        value.is_some_and(|value| (value - wanted).abs() < 1e-12)
    }

    #[test]
    fn torch_comes_first_and_figures_are_those_that_a_hand_computes() {
        let rows = sheet().rows;
        let names: Vec<(&str, &str)> = rows.iter().map(|row| (&*row.name, row.beside)).collect();
        assert_eq!(
            names,
            [
                ("PyTorch eager, 2 problems", "eager"),
                ("PyTorch compiled, 2 problems", "eager"),
                ("base", "eager"),
                ("base", "compiled"),
                ("tuned", "eager"),
                ("tuned", "compiled"),
            ]
        );
        // Problem 1 takes 4 ms, problem 2 twice 2 ms.
        assert!(near(rows[0].seconds, 3e-3) && near(rows[0].speed_up, 1.0));
        // Problem 1 takes 2 ms, problem 2 the mean of 1 and 2 ms: 4 / 2 and 2 / 1.5.
        assert!(near(rows[1].seconds, 1.75e-3));
        assert!(near(rows[1].speed_up, (2.0f64 * 2.0 / 1.5).sqrt()));

        let base = rows[2].scores.as_ref().unwrap();
        assert_eq!((base.answers, base.without), (3, 1));
        assert_eq!((base.compiled, base.correct), (1, 1));
        assert_eq!(base.fast_p, Some([1.0 / 3.0, 0.0, 0.0, 0.0, 0.0]));
        assert_eq!((base.tokens, base.writing_s), (Some(400), 8.0));
        assert!(near(rows[2].seconds, 4e-3) && near(rows[2].baseline_s, 2e-3));
        assert!(near(rows[2].speed_up, 0.5) && near(rows[3].speed_up, 0.25));

        let tuned = rows[4].scores.as_ref().unwrap();
        assert_eq!((tuned.answers, tuned.compiled, tuned.correct), (4, 3, 2));
        let rate = tuned.rate.unwrap();
        assert!(near(Some(rate.value), 0.5));
        assert!((rate.low - 0.15).abs() < 1e-2 && (rate.high - 0.85).abs() < 1e-2);
        assert_eq!(tuned.fast_p, Some([0.5, 0.25, 0.25, 0.25, 0.25]));
        assert!(near(rows[4].seconds, 1.5e-3) && near(rows[4].baseline_s, 3e-3));
        assert!(near(rows[4].speed_up, 2.0));
        assert!(near(rows[5].speed_up, 2.0f64.sqrt()) && near(rows[5].baseline_s, 2e-3));
    }

    #[test]
    fn what_was_not_measured_has_no_row_and_no_figure() {
        let mut fates = vec![fate("base", 1, Some(Label::Wrong)), fate("base", 2, None)];
        fates[1].tokens = None;
        let problems = ["kernelbench/1/1", "kernelbench/1/2"].map(str::to_owned);
        let policies = ["base", "other"].map(str::to_owned);
        let rows = rows(&policies, &problems, &fates);
        assert_eq!(rows.len(), 2, "{rows:?}");
        assert_eq!((rows[0].seconds, rows[0].speed_up), (None, None));
        let base = rows[0].scores.as_ref().unwrap();
        assert_eq!(base.fast_p, Some([0.0; 5]), "none of one answer is fast");
        assert_eq!(base.tokens, None);
        let other = rows[1].scores.as_ref().unwrap();
        assert_eq!((other.answers, other.rate, other.fast_p), (0, None, None));
    }
}
