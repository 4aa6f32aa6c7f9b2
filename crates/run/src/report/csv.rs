//! Every step of every run as a row.

use hotloop_flow::Label;

use super::{Point, Report};

/// The steps of all runs as CSV, with a header.
pub fn steps(report: &Report) -> String {
    let mut text = String::from(
        "run,step,iteration,unit,mean_reward,low_reward,high_reward,best_reward,mean_speed,mean_speed_all,max_speed,best_speed,",
    );
    for label in Label::ALL {
        text.push_str(&label.name().replace('-', "_"));
        text.push(',');
    }
    text.push_str(
        "masked,live,distinct,entropy,kl,loss,sampler_gap,temperature,lag,tokens,wall_s,sampling_s,judging_s,updating_s,policy_idle_s,bench_idle_s\n",
    );
    for run in &report.runs {
        for point in &run.points {
            text.push_str(&row(&run.name, run.unit, point));
            text.push('\n');
        }
    }
    text
}

fn row(name: &str, unit: &str, point: &Point) -> String {
    let some = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let mut cells = vec![
        quoted(name),
        point.step.to_string(),
        point
            .iteration
            .map(|iteration| iteration.to_string())
            .unwrap_or_default(),
        unit.to_owned(),
    ];
    cells.extend(
        [
            point.mean_reward,
            point.low_reward,
            point.high_reward,
            point.best_reward,
            point.mean_speed,
            point.mean_speed_all,
            point.max_speed,
            point.best_speed,
        ]
        .map(some),
    );
    cells.extend(
        Label::ALL.map(|label| point.verdicts.get(&label).copied().unwrap_or(0).to_string()),
    );
    cells.push(point.masked.to_string());
    cells.extend([point.live.to_string(), point.distinct.to_string()]);
    cells.extend([point.entropy, point.kl, point.loss, point.sampler_gap].map(some));
    cells.extend([
        point.temperature.to_string(),
        point.lag.to_string(),
        point.tokens.to_string(),
    ]);
    let seconds = &point.seconds;
    cells.extend(
        [
            seconds.wall,
            seconds.sampling,
            seconds.judging,
            seconds.updating,
            seconds.policy_idle,
            seconds.bench_idle,
        ]
        .map(|seconds| seconds.to_string()),
    );
    cells.join(",")
}

/// A cell with commas and quotes escaped.
fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}
