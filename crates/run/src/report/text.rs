//! Reports as plain text: a line per step and a table of runs.

use hotloop_flow::{Label, Measured};

use super::points::point;
use super::{Report, RunReport, practised};
use crate::probe::Estimate;
use crate::state::RunState;

/// The last step in one line that a person can watch for an hour.
pub fn step_line(state: &RunState) -> Option<String> {
    let step = state.steps.last()?;
    let earlier = state.steps[..state.steps.len() - 1]
        .iter()
        .flat_map(crate::state::Step::members);
    let best_before = earlier.filter_map(|member| member.speed).reduce(f64::max);
    let point = point(step, best_before);
    let asked: Vec<String> = step
        .groups
        .iter()
        .map(|group| match group.asked.stage {
            Some(asked) => format!("{} {}", group.asked.role.name(), asked.number()),
            None => format!("prompt {}", group.asked.variant),
        })
        .collect();
    let asked = if asked.len() > 2 {
        format!("{} groups", asked.len())
    } else {
        asked.join(", ")
    };
    let against = |value: Option<f64>, what: &str| {
        value
            .map(|value| format!(", {value:.2} of {what}"))
            .unwrap_or_default()
    };
    let best = state.best.as_ref();
    let speed = best.map_or("no correct candidate yet".to_owned(), |best| {
        let measured = best.verdict.measured();
        let baseline = measured.and_then(|measured| measured.baseline.as_ref());
        format!(
            "best {:.2} {}{}{}",
            best.speed,
            state.pace().unit(),
            against(
                measured.and_then(Measured::baseline_ratio),
                baseline.map_or("", |baseline| &baseline.name)
            ),
            against(measured.and_then(Measured::peak_fraction), "peak")
        )
    });
    let shares: Vec<String> = Label::ALL
        .into_iter()
        .filter(|label| point.share(*label) > 0.0)
        .map(|label| format!("{label} {:.0} %", point.share(label) * 100.0))
        .collect();
    let seconds = &point.seconds;
    Some(format!(
        "step {:>4}  {asked:<12}  reward {} (best {})  |  {speed}  |  {}  |  sampling {:.1} s, \
         judging {:.1} s, updating {:.1} s  |  idle: policy {:.1} s, bench {:.1} s{}{}",
        step.number + 1,
        shown(point.mean_reward),
        shown(point.best_reward),
        shares.join(", "),
        seconds.sampling,
        seconds.judging,
        seconds.updating,
        seconds.policy_idle,
        seconds.bench_idle,
        if point.lag > 0 { ", lag 1" } else { "" },
        practised::step_words(state, step),
    ))
}

fn shown(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:.2}"))
}

fn interval(estimate: Option<Estimate>, scale: f64, unit: &str) -> String {
    estimate.map_or("-".to_owned(), |estimate| {
        let digits = usize::from(scale < 10.0);
        format!(
            "{:.digits$}{unit} [{:.digits$}, {:.digits$}]",
            estimate.value * scale,
            estimate.low * scale,
            estimate.high * scale
        )
    })
}

/// The names and values in a run's summary, in order.
pub(crate) fn facts(run: &RunReport) -> Vec<(&'static str, String)> {
    let best = run.best.as_ref();
    let some = |value: Option<f64>, digits: usize| {
        value.map_or("-".to_owned(), |value| format!("{value:.digits$}"))
    };
    let totals = &run.totals;
    let share = |count: usize| 100.0 * count as f64 / totals.answers.max(1) as f64;
    let correct = totals.verdicts.get(&Label::Correct).copied().unwrap_or(0);
    let lost: Vec<String> = totals
        .lost_groups
        .iter()
        .map(|(fate, count)| format!("{count} {fate}"))
        .collect();
    let baseline = best
        .and_then(|best| best.baseline_ratio.zip(best.baseline.as_ref()))
        .map_or("-".to_owned(), |(ratio, name)| {
            format!("{ratio:.2} of {name}")
        });
    let idle = |seconds: f64| format!("{:.0} %", 100.0 * seconds / totals.seconds.wall.max(1e-9));
    vec![
        ("task", run.task.clone()),
        ("model", run.model.clone()),
        ("state", run.status.clone()),
        ("steps", totals.steps.to_string()),
        ("answers", totals.answers.to_string()),
        ("updates", totals.updates.to_string()),
        (
            "groups without gradient",
            if lost.is_empty() {
                "none".to_owned()
            } else {
                lost.join(", ")
            },
        ),
        ("correct", format!("{:.0} %", share(correct))),
        ("masked", totals.masked.to_string()),
        ("unit of speed", run.unit.to_owned()),
        ("seed, speed", some(run.seed_speed, 2)),
        ("best, speed", some(best.map(|best| best.speed), 2)),
        ("best / baseline", baseline),
        (
            "best / peak",
            some(best.and_then(|best| best.peak_fraction), 2),
        ),
        (
            "probe before: correct",
            interval(run.before.map(|probe| probe.correct), 100.0, " %"),
        ),
        (
            "probe after: correct",
            interval(run.after.map(|probe| probe.correct), 100.0, " %"),
        ),
        (
            "probe before: mean speed",
            interval(run.before.map(|probe| probe.speed), 1.0, ""),
        ),
        (
            "probe after: mean speed",
            interval(run.after.map(|probe| probe.speed), 1.0, ""),
        ),
        (
            "probe before: best of each stage",
            interval(run.before.map(|probe| probe.best), 1.0, ""),
        ),
        (
            "probe after: best of each stage",
            interval(run.after.map(|probe| probe.best), 1.0, ""),
        ),
        ("expected best of 8 answers", best_of(run, 8)),
        ("expected best of 64 answers", best_of(run, 64)),
        (
            "seconds per step",
            some(
                (totals.steps > 0).then(|| totals.seconds.wall / totals.steps as f64),
                1,
            ),
        ),
        ("policy idle", idle(totals.seconds.policy_idle)),
        ("bench idle", idle(totals.seconds.bench_idle)),
    ]
}

fn best_of(run: &RunReport, k: usize) -> String {
    let found = run.best_of.iter().find(|one| one.k == k);
    interval(found.map(|one| one.speed), 1.0, "")
}

/// The runs as a table, one column per run.
pub fn table(report: &Report) -> String {
    let columns: Vec<Vec<(&str, String)>> = report.runs.iter().map(facts).collect();
    let Some(first) = columns.first() else {
        return String::new();
    };
    let mut rows: Vec<Vec<String>> = vec![
        std::iter::once(String::new())
            .chain(report.runs.iter().map(|run| run.name.clone()))
            .collect(),
    ];
    for (at, (name, _)) in first.iter().enumerate() {
        let cells = columns.iter().map(|column| column[at].1.clone());
        rows.push(std::iter::once((*name).to_owned()).chain(cells).collect());
    }
    let mut text = align(&rows);
    if !report.pooled.is_empty() {
        let head = [
            "probes over seeds",
            "correct before",
            "correct after",
            "unit of speed",
            "mean speed before",
            "mean speed after",
        ];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for pooled in &report.pooled {
            rows.push(vec![
                pooled.name.clone(),
                interval(pooled.before.map(|probe| probe.correct), 100.0, " %"),
                interval(pooled.after.map(|probe| probe.correct), 100.0, " %"),
                pooled.unit.to_owned(),
                interval(pooled.before.map(|probe| probe.speed), 1.0, ""),
                interval(pooled.after.map(|probe| probe.speed), 1.0, ""),
            ]);
        }
        text.push('\n');
        text.push_str(&align(&rows));
    }
    let practised = practised::rows(report.practised());
    if !practised.is_empty() {
        let head = practised::HEAD.map(str::to_owned).to_vec();
        let rows: Vec<Vec<String>> = std::iter::once(head)
            .chain(practised.into_iter().map(Vec::from))
            .collect();
        text.push('\n');
        text.push_str(&align(&rows));
    }
    text
}

/// Rows with aligned columns.
pub(crate) fn align(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count())
            .max()
    };
    let widths: Vec<usize> = (0..columns)
        .map(|column| width(column).unwrap_or(0))
        .collect();
    let mut text = String::new();
    for row in rows {
        let cells: Vec<String> = row
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:<width$}"))
            .collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}
