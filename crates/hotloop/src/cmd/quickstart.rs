//! `hotloop quickstart`: one command that trains the nano policy on the machine in front of you.

use std::path::{Path, PathBuf};

use hotloop_run::probe::{Estimate, ProbeSummary};
use hotloop_run::report::{BestCode, RunReport};
use hotloop_run::{Layered, RunState};

use crate::cli::learn::QuickstartArgs;
use crate::cmd::{report, train, watch};
use crate::failure::{Failure, Status};
use crate::output::table::Table;
use crate::output::{count, number, percent, say};
use crate::stop::Stop;

/// The run file.
const RUN: &str = include_str!("../../../../experiments/quickstart.toml");
/// The names of the run that learns and of its control.
const LEARNS: &str = "learns";
const CONTROL: &str = "control";

/// Trains the nano policy here and reports what it learned.
pub(crate) fn run(arguments: &QuickstartArgs) -> Result<Status, Failure> {
    let folder = &arguments.out;
    let stop = Stop::listen()?;
    say(&format!(
        "The nano policy (a small sampler over a grammar of C, not a code model) learns to write \
         fast `{}`:\nit is probed, learns for {} s from the rewards of its candidates on this \
         machine, and is probed again.\nCtrl-C pauses; the same command continues.\n",
        arguments.task.as_deref().unwrap_or("matmul"),
        number(arguments.seconds)
    ));
    let _page = watch::beside(&arguments.beside, vec![folder.clone()])?;
    let mut names = vec![(LEARNS, None)];
    if arguments.control {
        names.push((CONTROL, Some("learning.rate=0")));
    }
    for (name, set) in &names {
        let ended = one(arguments, &folder.join(name), *set, &stop)?;
        if ended != Status::Fine {
            return Ok(ended);
        }
    }
    let runs: Vec<PathBuf> = names.iter().map(|(name, _)| folder.join(name)).collect();
    let whole = report::read(&runs)?;
    let page = report::write(&runs, folder)?;
    if let Some(learned) = whole.runs.first() {
        say(&told(learned, whole.runs.get(1), folder));
    }
    say(&format!("report: {}", page.display()));
    Ok(Status::Fine)
}

/// Drives one run from its current state to its end.
fn one(
    arguments: &QuickstartArgs,
    directory: &Path,
    set: Option<&str>,
    stop: &Stop,
) -> Result<Status, Failure> {
    if RunState::read(directory).is_ok_and(|state| state.ended.is_some()) {
        say(&format!(
            "{}: done before; --out names another folder for a new one",
            directory.display()
        ));
        return Ok(Status::Fine);
    }
    let mut sets = vec![
        format!("directory={}", directory.display()),
        format!("seed={}", arguments.seed),
        format!("budget.seconds={}", arguments.seconds),
    ];
    sets.extend(arguments.task.iter().map(|task| format!("task={task}")));
    sets.extend_from_slice(&arguments.set);
    sets.extend(set.map(str::to_owned));
    let plan = train::plan("quickstart", &sets, |sets| {
        Layered::read(Some(("quickstart.toml", RUN)), sets)
    })?;
    train::drive(&plan, stop)
}

/// What was learned, in a few lines.
fn told(learned: &RunReport, control: Option<&RunReport>, folder: &Path) -> String {
    let mut lines = vec![String::new(), probes(learned, control).render()];
    if control.is_none() {
        let same = "A control does not learn, so its policy stays unchanged; --control runs one, \
            which takes the same time again.";
        lines.push(same.to_owned());
    }
    let (against, name) = match control {
        Some(control) => (&control.after, "the control's"),
        None => (&learned.before, "that before"),
    };
    if let (Some(before), Some(after)) = (against, &learned.after) {
        lines.push(compared(after.speed, before.speed, name));
    }
    if let Some(best) = &learned.best {
        lines.push(fastest("Fastest code", best, learned));
        let file = folder
            .join(LEARNS)
            .join("candidates")
            .join(format!("{}.c", best.hash));
        lines.push(format!("  {}", file.display()));
    }
    if let Some((control, best)) = control.and_then(|run| Some((run, run.best.as_ref()?))) {
        lines.push(fastest("The control's", best, control));
    }
    lines.join("\n")
}

/// How learning changed the mean, for better or worse.
fn compared(after: Estimate, before: Estimate, name: &str) -> String {
    let apart = if after.low > before.high || after.high < before.low {
        "are apart"
    } else {
        "overlap"
    };
    let times = if before.value > 0.0 {
        format!("{:.1} times {name}", after.value / before.value)
    } else {
        // Nothing is a number of times nothing.
        format!("{}, and {name} is 0", number(after.value))
    };
    format!("After learning the mean is {times} (failures count 0); the intervals {apart}.")
}

fn probes(learned: &RunReport, control: Option<&RunReport>) -> Table {
    let asked = count(learned.config.stepping.probe as usize, "answer");
    let asked = format!("probe: {asked} to each of six stages");
    let mut table = Table::new()
        .left(asked)
        .left("correct")
        .left(format!("mean {}", learned.unit))
        .left("mean of the stages' best");
    let mut row = |name: &str, probe: Option<&ProbeSummary>| {
        if let Some(probe) = probe {
            table.row([
                name,
                &shares(probe.correct),
                &interval(probe.speed),
                &interval(probe.best),
            ]);
        }
    };
    row("before learning", learned.before.as_ref());
    row("after learning", learned.after.as_ref());
    row(
        "control: same time without learning",
        control.and_then(|run| run.after.as_ref()),
    );
    table
}

fn fastest(name: &str, best: &BestCode, run: &RunReport) -> String {
    let baseline = best
        .baseline_ratio
        .zip(best.baseline.as_ref())
        .map(|(ratio, baseline)| format!(", {ratio:.2} of {baseline}"))
        .unwrap_or_default();
    let peak = best
        .peak_fraction
        .map(|share| format!(", {} of peak", percent(share)))
        .unwrap_or_default();
    let seed = run
        .seed_speed
        .map(|seed| format!(", {:.0} times the seed", best.speed / seed))
        .unwrap_or_default();
    format!(
        "{name}: {} {}{baseline}{peak}{seed}, found in step {}",
        number(best.speed),
        run.unit,
        best.step + 1
    )
}

fn shares(share: Estimate) -> String {
    format!(
        "{:.0} % [{:.0}, {:.0}]",
        share.value * 100.0,
        share.low * 100.0,
        share.high * 100.0
    )
}

fn interval(estimate: Estimate) -> String {
    format!(
        "{} [{}, {}]",
        number(estimate.value),
        number(estimate.low),
        number(estimate.high)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_apart_on_either_side() {
        let estimate = |low: f64, high: f64| Estimate {
            value: f64::midpoint(low, high),
            low,
            high,
        };
        for (after, before, words) in [
            (
                estimate(5.0, 6.0),
                estimate(1.0, 2.0),
                "the intervals are apart",
            ),
            (
                estimate(1.0, 2.0),
                estimate(5.0, 6.0),
                "0.3 times that before (failures count 0); the intervals are apart",
            ),
            (
                estimate(1.0, 3.0),
                estimate(2.0, 6.0),
                "the intervals overlap",
            ),
            (
                estimate(3.0, 3.0),
                estimate(0.0, 0.0),
                "the mean is 3.00, and that before is 0 (failures count 0); the intervals are apart",
            ),
            (
                estimate(0.0, 0.0),
                estimate(0.0, 0.0),
                "the mean is 0.000, and that before is 0 (failures count 0); the intervals overlap",
            ),
        ] {
            let told = compared(after, before, "that before");
            assert!(told.contains(words), "{told}");
        }
    }
}
