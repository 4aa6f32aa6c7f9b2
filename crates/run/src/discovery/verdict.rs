//! One verdict over seeds: did learning find faster code?
//!
//! Runs with the same seed are pairs. The ratio of their best codes has a 95 % interval by
//! Student's t over the logarithms. Several arms that learn are several chances to look better by
//! luck, so their intervals hold together (Bonferroni). Each is compared with the stronger control.

use std::collections::{BTreeMap, BTreeSet};

use hotloop_flow::statistics::{mean, student_t};
use serde::Serialize;

use super::outcome::Outcome;

/// How sure the intervals are, together.
const LEVEL: f64 = 0.95;

/// An arm that learns against one that does not.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    pub arm: String,
    pub against: String,
    /// The seeds that both ran with.
    pub seeds: Vec<u64>,
    /// How many times as fast its best code is: the geometric mean over seeds.
    pub times: f64,
    /// The interval of it; `None` for a single seed, which shows no spread.
    pub interval: Option<(f64, f64)>,
}

/// What the comparisons show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finding {
    /// An arm that learns found faster code, beyond chance.
    Learning,
    /// Every arm that learns found slower code, beyond chance.
    Search,
    /// The intervals allow both.
    Undecided,
}

/// The verdict of a discovery.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    pub finding: Finding,
    /// The control with the faster code, over the seeds of all controls.
    pub control: Option<String>,
    /// Each arm that learns against it.
    pub comparisons: Vec<Comparison>,
    /// What limits the verdict.
    pub notes: Vec<String>,
}

/// Compares finished runs.
pub fn of(outcomes: &[Outcome]) -> Verdict {
    let mut notes = notes(outcomes);
    let done = || outcomes.iter().filter(|one| one.ended.is_some());
    let arms = |learns: bool| -> BTreeSet<&str> {
        let arms = done().filter(|one| one.learns == learns);
        arms.map(|one| one.arm.as_str()).collect()
    };
    // The logarithm of the best speed, by seed.
    let logs = |arm: &str| -> BTreeMap<u64, f64> {
        let runs = done().filter(|one| one.arm == arm);
        runs.filter_map(|one| Some((one.seed, one.best.filter(|best| *best > 0.0)?.ln())))
            .collect()
    };
    let Some(control) = stronger(arms(false).into_iter().map(|arm| (arm, logs(arm)))) else {
        notes.push("no control is done, so nothing can be compared".to_owned());
        return Verdict {
            finding: Finding::Undecided,
            control: None,
            comparisons: Vec::new(),
            notes,
        };
    };
    let learning = arms(true);
    let level = 1.0 - (1.0 - LEVEL) / learning.len().max(1) as f64;
    let comparisons: Vec<Comparison> = learning
        .iter()
        .filter_map(|arm| compared((arm, &logs(arm)), (control, &logs(control)), level))
        .collect();
    if learning.is_empty() {
        notes.push("no arm that learns is done, so nothing can be compared".to_owned());
    }
    if comparisons.iter().any(|one| one.interval.is_none()) {
        notes.push("one seed shows no spread: run more seeds".to_owned());
    }
    Verdict {
        finding: finding(&comparisons),
        control: Some(control.to_owned()),
        comparisons,
        notes,
    }
}

fn finding(comparisons: &[Comparison]) -> Finding {
    let holds =
        |holds: fn((f64, f64)) -> bool| move |one: &Comparison| one.interval.is_some_and(holds);
    if comparisons.iter().any(holds(|(low, _)| low > 1.0)) {
        Finding::Learning
    } else if !comparisons.is_empty() && comparisons.iter().all(holds(|(_, high)| high < 1.0)) {
        Finding::Search
    } else {
        Finding::Undecided
    }
}

/// The control with the faster code over the seeds that all controls have, or over its own seeds if
/// they share none.
fn stronger<'a>(controls: impl Iterator<Item = (&'a str, BTreeMap<u64, f64>)>) -> Option<&'a str> {
    let controls: Vec<_> = controls.filter(|(_, logs)| !logs.is_empty()).collect();
    let shared = |seed: &u64| controls.iter().all(|(_, logs)| logs.contains_key(seed));
    let any_shared = controls.first()?.1.keys().any(shared);
    let middle = |logs: &BTreeMap<u64, f64>| {
        let logs = logs.iter().filter(|(seed, _)| !any_shared || shared(seed));
        mean(&logs.map(|(_, log)| *log).collect::<Vec<f64>>())
    };
    let best = controls
        .iter()
        .max_by(|a, b| middle(&a.1).total_cmp(&middle(&b.1)));
    best.map(|(name, _)| *name)
}

fn compared(
    arm: (&str, &BTreeMap<u64, f64>),
    control: (&str, &BTreeMap<u64, f64>),
    level: f64,
) -> Option<Comparison> {
    let pairs: Vec<(u64, f64)> = arm
        .1
        .iter()
        .filter_map(|(seed, log)| Some((*seed, log - control.1.get(seed)?)))
        .collect();
    if pairs.is_empty() {
        return None;
    }
    let gains: Vec<f64> = pairs.iter().map(|(_, gain)| *gain).collect();
    let middle = mean(&gains);
    let freedom = gains.len() as u32 - 1;
    let interval = (freedom > 0).then(|| {
        let squares: f64 = gains.iter().map(|gain| (gain - middle).powi(2)).sum();
        let error = (squares / f64::from(freedom) / gains.len() as f64).sqrt();
        let reach = student_t(level, freedom) * error;
        ((middle - reach).exp(), (middle + reach).exp())
    });
    Some(Comparison {
        arm: arm.0.to_owned(),
        against: control.0.to_owned(),
        seeds: pairs.into_iter().map(|(seed, _)| seed).collect(),
        times: middle.exp(),
        interval,
    })
}

/// Runs that did not end, and budgets that are not equal.
fn notes(outcomes: &[Outcome]) -> Vec<String> {
    let name = |one: &Outcome| format!("{}-{}", one.arm, one.seed);
    let mut notes: Vec<String> = outcomes
        .iter()
        .filter(|one| one.ended.is_none())
        .map(|one| format!("{} is not done and does not count", name(one)))
        .collect();
    let done = outcomes.iter().filter(|one| one.ended.is_some());
    let early = done.filter(|one| one.answers < one.budget);
    notes.extend(early.map(|one| {
        let why = one.ended.as_deref().unwrap_or_default();
        format!(
            "{} judged {} of {} answers ({why}), so its budget is not equal",
            name(one),
            one.answers,
            one.budget
        )
    }));
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(arm: &str, seed: u64, best: f64) -> Outcome {
        Outcome {
            arm: arm.to_owned(),
            seed,
            learns: !["search", "best-of-n"].contains(&arm),
            budget: 100,
            answers: 100,
            correct: 50,
            seconds: 1.0,
            unit: "GFLOPS",
            best: Some(best),
            of_baseline: None,
            timings: 5,
            best_of: Vec::new(),
            reached: Vec::new(),
            ended: Some("100 answers are judged".to_owned()),
        }
    }

    fn runs(arm: &str, bests: &[f64]) -> Vec<Outcome> {
        let seeds = 1..;
        seeds
            .zip(bests)
            .map(|(seed, best)| run(arm, seed, *best))
            .collect()
    }

    #[test]
    fn intervals_are_students_over_paired_logarithms() {
        let e = std::f64::consts::E;
        // Gains of 0, 1 and 2 in logarithms: mean 1, std 1, standard error 1/sqrt(3) = 0.57735, and
        // t for two degrees of freedom is 4.30265: 1 +- 2.48414.
        let arm = runs("grpo", &[10.0, 10.0 * e, 10.0 * e * e]);
        let all = [arm, runs("search", &[10.0; 3])].concat();
        let verdict = of(&all);
        let found = &verdict.comparisons[0];
        let (low, high) = found.interval.expect("three seeds");
        assert!((found.times.ln() - 1.0).abs() < 1e-9);
        assert!(
            (low.ln() + 1.48414).abs() < 1e-4 && (high.ln() - 3.48414).abs() < 1e-4,
            "{low} {high}"
        );
        assert_eq!(verdict.finding, Finding::Undecided);
    }

    #[test]
    fn learning_wins_only_against_the_stronger_control() {
        let learned = runs("entropic", &[20.0, 20.2, 19.9]);
        let weak = runs("best-of-n", &[10.0, 10.1, 9.9]);
        let of_these =
            |search: &[f64]| of(&[learned.clone(), weak.clone(), runs("search", search)].concat());
        let won = of_these(&[12.0, 12.1, 12.0]);
        assert_eq!(
            (won.finding, won.control.as_deref()),
            (Finding::Learning, Some("search"))
        );
        assert_eq!(of_these(&[30.0, 30.5, 30.0]).finding, Finding::Search);
        assert_eq!(of_these(&[20.0, 20.1, 20.0]).finding, Finding::Undecided);
    }

    #[test]
    fn more_arms_need_more_evidence() {
        let control = runs("search", &[10.0; 3]);
        let good = runs("grpo", &[11.0, 12.0, 11.2]);
        let width = |more: &[Vec<Outcome>]| {
            let all = [&[control.clone(), good.clone()], more].concat().concat();
            let found = of(&all)
                .comparisons
                .into_iter()
                .find(|one| one.arm == "grpo");
            let (low, high) = found.and_then(|one| one.interval).expect("three seeds");
            high / low
        };
        let alone = width(&[]);
        assert!(width(&[runs("entropic", &[9.0; 3]), runs("max-at-k", &[9.0; 3])]) > alone);
    }

    #[test]
    fn what_limits_a_verdict_is_said() {
        let mut open = run("grpo", 2, 40.0);
        open.ended = None;
        let mut early = run("grpo", 1, 20.0);
        early.answers = 60;
        let verdict = of(&[early, open, run("search", 1, 10.0), run("search", 2, 10.0)]);
        assert_eq!(
            verdict.comparisons[0].seeds,
            [1],
            "the open run does not count"
        );
        assert_eq!(
            (verdict.finding, verdict.comparisons[0].interval),
            (Finding::Undecided, None)
        );
        for words in [
            "grpo-2 is not done",
            "60 of 100",
            "one seed shows no spread",
        ] {
            assert!(
                verdict.notes.iter().any(|note| note.contains(words)),
                "{:?}",
                verdict.notes
            );
        }
        let lonely = of(&[run("grpo", 1, 3.0)]);
        assert!(lonely.control.is_none() && lonely.notes[0].contains("no control"));
    }
}
