//! Which jobs run within a time budget. Pure: time is a number that the caller passes in.

use std::collections::BTreeSet;

use super::plan::Job;

/// Seconds of the budget that are reserved for the report.
pub const RESERVE_S: f64 = 15.0;
/// Seconds that a job has to end after it is asked to stop.
pub const GRACE_S: f64 = 30.0;
/// A job starts only if this share of its time is left, because a run that is cut off early shows
/// little.
const SHARE: f64 = 0.7;

/// What happens to a job now.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    /// It was done before.
    Done,
    /// It runs and is asked to stop after `limit_s`.
    Run { limit_s: f64 },
    /// It does not run now.
    LeftOut { why: String },
}

/// Decides about a job when `left_s` of the budget is left and `done` jobs are done.
pub fn decide(job: &Job, done: &BTreeSet<String>, left_s: f64) -> Decision {
    if done.contains(&job.name) {
        return Decision::Done;
    }
    let lacking: Vec<&str> = job
        .needs
        .iter()
        .filter(|need| !done.contains(*need))
        .map(String::as_str)
        .collect();
    if !lacking.is_empty() {
        return Decision::LeftOut {
            why: format!("it needs {}", lacking.join(", ")),
        };
    }
    let left_s = left_s - RESERVE_S - GRACE_S;
    if left_s < SHARE * job.seconds {
        return Decision::LeftOut {
            why: format!(
                "{:.0} s are left of the {:.0} s that it may take",
                left_s.max(0.0),
                job.seconds
            ),
        };
    }
    Decision::Run {
        limit_s: job.seconds.min(left_s),
    }
}

/// One job of a forecast.
#[derive(Debug, Clone, PartialEq)]
pub struct Forecast {
    /// Seconds from now until it starts.
    pub begins_s: f64,
    /// What will happen to it.
    pub decision: Decision,
}

/// What will happen to all jobs if every job uses all of its time and succeeds.
pub fn forecast(jobs: &[Job], done: &BTreeSet<String>, budget_s: f64) -> Vec<Forecast> {
    let mut done = done.clone();
    let mut begins_s = 0.0;
    let mut all = Vec::new();
    for job in jobs {
        let decision = decide(job, &done, budget_s - begins_s);
        let takes_s = match decision {
            Decision::Run { limit_s } => limit_s,
            Decision::Done | Decision::LeftOut { .. } => 0.0,
        };
        if takes_s > 0.0 {
            done.insert(job.name.clone());
        }
        all.push(Forecast { begins_s, decision });
        begins_s += takes_s;
    }
    all
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn job(name: &str, seconds: f64, needs: &[&str]) -> Job {
        Job {
            name: name.to_owned(),
            folder: PathBuf::from(name),
            seconds,
            commands: Vec::new(),
            resume: None,
            needs: needs.iter().map(|need| (*need).to_owned()).collect(),
            against: None,
            show: false,
            have: false,
        }
    }

    fn done(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_job_runs_when_its_needs_are_done_and_enough_time_is_left() {
        let learns = job("learns", 100.0, &["warm"]);
        let decided = |names: &[&str], left_s: f64| decide(&learns, &done(names), left_s);
        assert_eq!(decided(&["learns"], 0.0), Decision::Done);
        assert_eq!(
            decided(&["warm"], f64::INFINITY),
            Decision::Run { limit_s: 100.0 }
        );
        assert_eq!(
            decided(&["warm"], 80.0 + RESERVE_S + GRACE_S),
            Decision::Run { limit_s: 80.0 },
            "what is left is its limit"
        );
        for (names, left_s, words) in [
            (&[][..], 1e9, "it needs warm"),
            (
                &["warm"],
                69.0 + RESERVE_S + GRACE_S,
                "69 s are left of the 100 s",
            ),
            (&["warm"], 3.0, "0 s are left"),
        ] {
            let Decision::LeftOut { why } = decided(names, left_s) else {
                panic!("{words}");
            };
            assert!(why.contains(words), "{why}");
        }
    }

    #[test]
    fn a_forecast_adds_up_and_shorter_jobs_fill_what_is_left() {
        let jobs = [
            job("warm", 100.0, &[]),
            job("learns", 200.0, &["warm"]),
            job("long", 500.0, &["warm"]),
            job("after", 10.0, &["long"]),
            job("short", 20.0, &[]),
        ];
        let told = forecast(&jobs, &done(&[]), 400.0);
        let begins: Vec<f64> = told.iter().map(|one| one.begins_s).collect();
        assert_eq!(begins, [0.0, 100.0, 300.0, 300.0, 300.0]);
        let runs = |at: usize| matches!(told[at].decision, Decision::Run { .. });
        assert_eq!([0, 1, 2, 3, 4].map(runs), [true, true, false, false, true]);
        assert_eq!(
            forecast(&jobs, &done(&["warm"]), 400.0)[0].decision,
            Decision::Done
        );
    }
}
