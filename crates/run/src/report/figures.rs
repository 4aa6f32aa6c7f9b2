//! The figures of a report.

use flow::Label;

use super::svg::{Content, Figure, Layer, Series};
use super::{Point, Report, RunReport};

/// The figures that compare all runs, then those of each run, with names for files.
pub(super) fn all(report: &Report) -> Vec<(String, Figure)> {
    let mut figures: Vec<(String, Figure)> =
        compared(report).into_iter().map(|(name, figure)| (name.to_owned(), figure)).collect();
    for run in &report.runs {
        figures.extend(own(run).into_iter().map(|(name, figure)| (format!("{}-{name}", run.name), figure)));
    }
    figures
}

/// The curves of all runs in one frame each.
pub(super) fn compared(report: &Report) -> Vec<(&'static str, Figure)> {
    let alone = report.runs.len() == 1;
    let mut figures = vec![
        ("reward", lines(report, "Mean reward", "reward", |point| point.mean_reward, alone)),
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
        ("entropy", lines(report, "Entropy of the policy", "nats per token", |point| point.entropy, false)),
        ("distinct", lines(report, "Distinct candidates", "share of candidates", |point| Some(point.distinct), false)),
        ("kl", lines(report, "Divergence from the reference", "KL, nats per token", |point| point.kl, false)),
    ];
    figures.retain(|(_, figure)| match &figure.content {
        // A frame without a line only raises questions: a run that learns nothing has no divergence.
        Content::Lines(series) => series.iter().any(|series| !series.points.is_empty()),
        Content::Stack { .. } => true,
    });
    figures
}

/// What belongs to one run.
pub(super) fn own(run: &RunReport) -> Vec<(&'static str, Figure)> {
    vec![("verdicts", verdicts(&run.points)), ("time", time(&run.points))]
}

fn figure(title: &str, y_label: &str, content: Content) -> Figure {
    Figure { title: title.to_owned(), x_label: "step".to_owned(), y_label: y_label.to_owned(), content }
}

fn lines(report: &Report, title: &str, unit: &str, of: fn(&Point) -> Option<f64>, spread: bool) -> Figure {
    let series = report.runs.iter().enumerate().map(|(colour, run)| Series {
        name: run.name.clone(),
        colour,
        dashed: false,
        points: curve(&run.points, of),
        band: if spread { band(&run.points) } else { Vec::new() },
    });
    let title = if spread { format!("{title} (shaded: 80 % of the answers)") } else { title.to_owned() };
    figure(&title, unit, Content::Lines(series.collect()))
}

/// The fastest so far; of a single run also the fastest of each step, dashed.
fn speeds(report: &Report) -> Figure {
    let mut series = Vec::new();
    for (colour, run) in report.runs.iter().enumerate() {
        let alone = report.runs.len() == 1;
        let name = if alone { "best so far".to_owned() } else { run.name.clone() };
        let points = curve(&run.points, |point| point.best_gflops);
        series.push(Series { name, colour, points, ..Series::default() });
        if alone {
            let (name, points) = ("best of the step".to_owned(), curve(&run.points, |point| point.max_gflops));
            series.push(Series { name, colour, dashed: true, points, ..Series::default() });
        }
    }
    figure("Speed of the fastest candidate so far", "GFLOPS", Content::Lines(series))
}

pub(super) fn curve(points: &[Point], of: impl Fn(&Point) -> Option<f64>) -> Vec<(f64, f64)> {
    points.iter().filter_map(|point| Some((point.step as f64, of(point)?))).collect()
}

fn band(points: &[Point]) -> Vec<(f64, f64, f64)> {
    points.iter().filter_map(|point| Some((point.step as f64, point.low_reward?, point.high_reward?))).collect()
}

fn verdicts(points: &[Point]) -> Figure {
    let xs: Vec<f64> = points.iter().map(|point| point.step as f64).collect();
    let layer = |label: Label| Layer {
        name: label.name().to_owned(),
        colour: label.name().to_owned(),
        heights: points.iter().map(|point| point.share(label)).collect(),
    };
    let mut layers: Vec<Layer> = Label::ALL.into_iter().rev().map(layer).collect();
    layers.push(Layer {
        name: "masked".to_owned(),
        colour: "masked".to_owned(),
        heights: points.iter().map(|point| point.masked as f64 / point.answers().max(1) as f64).collect(),
    });
    layers.retain(|layer| layer.heights.iter().any(|height| *height > 0.0));
    figure("Verdicts", "share of answers", Content::Stack { xs, layers })
}

/// The policy's time; the bench's is in the table beside it.
fn time(points: &[Point]) -> Figure {
    let xs: Vec<f64> = points.iter().map(|point| point.step as f64).collect();
    let layer = |name: &str, colour: &str, of: fn(&Point) -> f64| Layer {
        name: name.to_owned(),
        colour: colour.to_owned(),
        heights: points.iter().map(|point| of(point).max(0.0)).collect(),
    };
    let layers = vec![
        layer("sampling", "sampling", |point| point.seconds.sampling),
        layer("updating", "updating", |point| point.seconds.updating),
        layer("waiting for the bench", "waiting", |point| point.seconds.policy_idle),
        layer("other", "other", |point| {
            let seconds = &point.seconds;
            seconds.wall - seconds.sampling - seconds.updating - seconds.policy_idle
        }),
    ];
    figure("Where the policy's time goes", "seconds per step", Content::Stack { xs, layers })
}
