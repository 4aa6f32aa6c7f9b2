//! The figures of a report.

use hotloop_flow::Label;

use super::figure::{Content, Figure, Layer, Series};
use super::{Point, Report, RunReport, families, names, reviewer};
use crate::event::StepSeconds;

/// The figures that compare all runs, then those of each run, with names for files.
pub(super) fn all(report: &Report) -> Vec<(String, Figure)> {
    let mut figures: Vec<(String, Figure)> = compared(report)
        .into_iter()
        .map(|(name, figure)| (name.to_owned(), figure))
        .collect();
    for run in &report.runs {
        figures.extend(
            own(run)
                .into_iter()
                .map(|(name, figure)| (format!("{}-{name}", names::file(&run.name)), figure)),
        );
    }
    figures
}

/// The curves of all runs in one frame each.
pub(super) fn compared(report: &Report) -> Vec<(&'static str, Figure)> {
    let alone = report.runs.len() == 1;
    let mut figures = vec![
        (
            "reward",
            lines(
                report,
                "Mean reward",
                "reward",
                |point| point.mean_reward,
                alone,
            ),
        ),
        ("speed", speeds(report)),
        (
            "correct",
            lines(
                report,
                "Share of correct candidates",
                "share of answers",
                |point| Some(point.share(Label::Correct)),
                false,
            ),
        ),
        (
            "entropy",
            lines(
                report,
                "Entropy of the policy",
                "nats per token",
                |point| point.entropy,
                false,
            ),
        ),
        (
            "distinct",
            lines(
                report,
                "Distinct candidates",
                "share of candidates",
                |point| Some(point.distinct),
                false,
            ),
        ),
        (
            "kl",
            lines(
                report,
                "Divergence from the reference",
                "KL, nats per token",
                |point| point.kl,
                false,
            ),
        ),
    ];
    figures.retain(|(_, figure)| match &figure.content {
        // Frames without a line are left out. For instance, a run that does not learn has no KL
        // divergence.
        Content::Lines(series) => series.iter().any(|series| !series.points.is_empty()),
        Content::Stack { .. } => true,
    });
    figures
}

pub(super) fn own(run: &RunReport) -> Vec<(&'static str, Figure)> {
    let mut figures = vec![
        ("verdicts", verdicts(&run.points)),
        ("policy-time", policy_time(&run.points)),
        ("bench-time", bench_time(&run.points)),
    ];
    if let Some(agreement) = &run.reviewer {
        figures.push(("reviewer", reviewer::calibration(agreement)));
    }
    figures
}

fn figure(title: &str, y_label: &str, content: Content) -> Figure {
    Figure {
        title: title.to_owned(),
        x_label: "step".to_owned(),
        y_label: y_label.to_owned(),
        content,
    }
}

fn lines(
    report: &Report,
    title: &str,
    unit: &str,
    of: fn(&Point) -> Option<f64>,
    spread: bool,
) -> Figure {
    let families: Vec<Vec<&RunReport>> = families(&report.runs)
        .iter()
        .map(|family| family.iter().map(|at| &report.runs[*at]).collect())
        .collect();
    let seeds = families.len() < report.runs.len();
    let series = families
        .iter()
        .enumerate()
        .map(|(colour, family)| match family[..] {
            [run] => Series {
                name: run.name.clone(),
                colour,
                dashed: false,
                points: curve(&run.points, of),
                band: if spread {
                    band(&run.points)
                } else {
                    Vec::new()
                },
            },
            _ => over_seeds(family, colour, of),
        });
    let title = match (seeds, spread) {
        (true, _) => format!("{title} (shaded: lowest to highest seed)"),
        (false, true) => format!("{title} (shaded: 80 % of the answers)"),
        (false, false) => title.to_owned(),
    };
    figure(&title, unit, Content::Lines(series.collect()))
}

/// The mean of a family's curves where all have a value, and the range of its seeds.
fn over_seeds(family: &[&RunReport], colour: usize, of: fn(&Point) -> Option<f64>) -> Series {
    let mut series = Series {
        name: format!("{} ({} seeds)", family[0].name, family.len()),
        colour,
        ..Series::default()
    };
    let steps = family.iter().map(|run| run.points.len()).min().unwrap_or(0);
    for step in 0..steps {
        let values: Vec<f64> = family
            .iter()
            .filter_map(|run| of(&run.points[step]))
            .collect();
        if values.len() == family.len() {
            let (low, high) = values
                .iter()
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                    (low.min(*value), high.max(*value))
                });
            let x = place(&family[0].points[step]);
            series
                .points
                .push((x, values.iter().sum::<f64>() / values.len() as f64));
            series.band.push((x, low, high));
        }
    }
    series
}

/// The fastest so far. A single run also shows the fastest of each step, dashed.
fn speeds(report: &Report) -> Figure {
    let mut figure = lines(
        report,
        "Speed of the fastest candidate so far",
        unit(report),
        |point| point.best_speed,
        false,
    );
    if let ([run], Content::Lines(series)) = (&report.runs[..], &mut figure.content) {
        "best so far".clone_into(&mut series[0].name);
        let (name, points) = (
            "best of the step".to_owned(),
            curve(&run.points, |point| point.max_speed),
        );
        series.push(Series {
            name,
            dashed: true,
            points,
            ..Series::default()
        });
    }
    figure
}

/// The unit of speeds, if all runs agree on it.
fn unit(report: &Report) -> &'static str {
    let mut units = report.runs.iter().map(|run| run.unit);
    let first = units.next().unwrap_or("speed");
    if units.all(|unit| unit == first) {
        first
    } else {
        "speed"
    }
}

/// A step's place on the axis, counted from 1 because people read it.
fn place(point: &Point) -> f64 {
    point.step as f64 + 1.0
}

fn curve(points: &[Point], of: impl Fn(&Point) -> Option<f64>) -> Vec<(f64, f64)> {
    points
        .iter()
        .filter_map(|point| Some((place(point), of(point)?)))
        .collect()
}

fn band(points: &[Point]) -> Vec<(f64, f64, f64)> {
    points
        .iter()
        .filter_map(|point| Some((place(point), point.low_reward?, point.high_reward?)))
        .collect()
}

fn verdicts(points: &[Point]) -> Figure {
    let xs: Vec<f64> = points.iter().map(place).collect();
    let layer = |label: Label| Layer {
        name: label.name().to_owned(),
        colour: label.name().to_owned(),
        heights: points.iter().map(|point| point.share(label)).collect(),
    };
    let mut layers: Vec<Layer> = Label::ALL.into_iter().rev().map(layer).collect();
    layers.push(Layer {
        name: "masked".to_owned(),
        colour: "masked".to_owned(),
        heights: points
            .iter()
            .map(|point| point.masked as f64 / point.answers().max(1) as f64)
            .collect(),
    });
    layers.retain(|layer| layer.heights.iter().any(|height| *height > 0.0));
    figure(
        "Verdicts",
        "share of answers",
        Content::Stack { xs, layers },
    )
}

fn policy_time(points: &[Point]) -> Figure {
    let layers = vec![
        layer(points, "sampling", "sampling", |seconds| seconds.sampling),
        layer(points, "updating", "updating", |seconds| seconds.updating),
        layer(points, "waiting for the bench", "waiting", |seconds| {
            seconds.policy_idle
        }),
        layer(points, "other", "other", |seconds| {
            seconds.wall - seconds.sampling - seconds.updating - seconds.policy_idle
        }),
    ];
    times(points, "Where the policy's time goes", layers)
}

fn bench_time(points: &[Point]) -> Figure {
    let layers = vec![
        layer(points, "judging", "correct", |seconds| {
            seconds.judging.min(seconds.wall)
        }),
        layer(points, "nothing to judge", "waiting", |seconds| {
            seconds.bench_idle
        }),
    ];
    times(points, "Where the bench's time goes", layers)
}

fn layer(points: &[Point], name: &str, colour: &str, of: fn(&StepSeconds) -> f64) -> Layer {
    let heights = points
        .iter()
        .map(|point| of(&point.seconds).max(0.0))
        .collect();
    Layer {
        name: name.to_owned(),
        colour: colour.to_owned(),
        heights,
    }
}

fn times(points: &[Point], title: &str, layers: Vec<Layer>) -> Figure {
    let xs = points.iter().map(place).collect();
    figure(title, "seconds per step", Content::Stack { xs, layers })
}
