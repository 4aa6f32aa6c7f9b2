//! Figures 3, 4, 7 and 8 and tables II and III of Mikasa et al. 2026, from the runs of a grid.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use super::grid::label;
use crate::report::figure::{Content, Figure, Series};
use crate::report::{Point, Report, RunReport, text};
use crate::store::write_whole;

/// One figure or table.
#[derive(Debug, Clone)]
pub enum Output {
    /// A figure with its file's name.
    Figure(&'static str, Figure),
    /// A table with its file's name: the head first.
    Table(&'static str, Vec<Vec<String>>),
}

/// The paper's figures and tables of an experiment, for the given runs.
pub fn outputs(experiment: &str, report: &Report) -> Vec<Output> {
    match experiment {
        "exp1" => vec![
            Output::Figure(
                "figure-3",
                steps(report, "Experiment 1: mean reward", "reward", |point| {
                    point.mean_reward
                }),
            ),
            Output::Figure(
                "figure-4",
                steps(
                    report,
                    "Experiment 1: max GFLOPS per step",
                    "GFLOPS",
                    |point| point.max_speed,
                ),
            ),
            Output::Table("table-3", table_3(report)),
        ],
        "exp2" => vec![
            Output::Figure(
                "figure-7",
                iterations(report, "Experiment 2: mean GFLOPS", mean),
            ),
            Output::Figure(
                "figure-8",
                iterations(report, "Experiment 2: max GFLOPS", max),
            ),
            Output::Table("table-2", table_2(report)),
            Output::Table("table-3", table_3(report)),
        ],
        _ => Vec::new(),
    }
}

impl Output {
    /// Writes it to a folder: figures as SVG, tables as CSV and as plain text.
    pub fn write(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        fs_err::create_dir_all(folder)?;
        let files = match self {
            Self::Figure(name, figure) => vec![figure.file(name)],
            Self::Table(name, rows) => vec![
                (format!("{name}.txt"), text::align(rows).into_bytes()),
                (format!("{name}.csv"), comma_separated(rows).into_bytes()),
            ],
        };
        let write = |(name, content): (String, Vec<u8>)| {
            let path = folder.join(name);
            write_whole(&path, &content).map(|()| path)
        };
        files.into_iter().map(write).collect()
    }

    /// A table as plain text; `None` for figures.
    pub fn text(&self) -> Option<String> {
        match self {
            Self::Figure(..) => None,
            Self::Table(_, rows) => Some(text::align(rows)),
        }
    }
}

fn comma_separated(rows: &[Vec<String>]) -> String {
    let cell = |cell: &String| format!("\"{}\"", cell.replace('"', "\"\""));
    let rows: Vec<String> = rows
        .iter()
        .map(|row| row.iter().map(cell).collect::<Vec<_>>().join(","))
        .collect();
    rows.join("\n") + "\n"
}

/// Runs that differ only in the learning rate share a colour. The larger rate is dashed, as in the
/// paper.
fn series(report: &Report, of: impl Fn(&RunReport) -> Vec<(f64, f64)>) -> Vec<Series> {
    let mut colours: BTreeMap<String, usize> = BTreeMap::new();
    let least = report
        .runs
        .iter()
        .map(|run| run.config.learning.rate)
        .fold(f64::INFINITY, f64::min);
    let mut series = Vec::new();
    for run in &report.runs {
        let apart_from_rate = format!("{} {}", run.config.bench.how.opt, run.config.learning.beta);
        let next = colours.len();
        series.push(Series {
            name: label(&run.config),
            colour: *colours.entry(apart_from_rate).or_insert(next),
            dashed: run.config.learning.rate > least,
            points: of(run),
            band: Vec::new(),
        });
    }
    series
}

fn steps(report: &Report, title: &str, unit: &str, of: fn(&Point) -> Option<f64>) -> Figure {
    let points = |run: &RunReport| {
        run.points
            .iter()
            .filter_map(|point| Some((point.step as f64 + 1.0, of(point)?)))
            .collect()
    };
    figure(title, "step", unit, series(report, points))
}

fn iterations(report: &Report, title: &str, of: fn(&[&Point]) -> Option<f64>) -> Figure {
    let points = |run: &RunReport| {
        let mut by_iteration: BTreeMap<u32, Vec<&Point>> = BTreeMap::new();
        for point in &run.points {
            by_iteration
                .entry(point.iteration.unwrap_or(0))
                .or_default()
                .push(point);
        }
        // The paper counts iterations from 1.
        by_iteration
            .iter()
            .filter_map(|(at, points)| Some((f64::from(*at) + 1.0, of(points)?)))
            .collect()
    };
    figure(title, "iteration", "GFLOPS", series(report, points))
}

fn figure(title: &str, x_label: &str, y_label: &str, series: Vec<Series>) -> Figure {
    let content = Content::Lines(series);
    Figure {
        title: title.to_owned(),
        x_label: x_label.to_owned(),
        y_label: y_label.to_owned(),
        content,
    }
}

/// The mean over the correct candidates of an iteration.
fn mean(points: &[&Point]) -> Option<f64> {
    let correct = |point: &&Point| {
        point
            .verdicts
            .get(&hotloop_flow::Label::Correct)
            .copied()
            .unwrap_or(0) as f64
    };
    let count: f64 = points.iter().map(correct).sum();
    let sum: f64 = points
        .iter()
        .filter_map(|point| Some(point.mean_speed? * correct(point)))
        .sum();
    (count > 0.0).then(|| sum / count)
}

fn max(points: &[&Point]) -> Option<f64> {
    points
        .iter()
        .filter_map(|point| point.max_speed)
        .reduce(f64::max)
}

fn row(cells: &[&str]) -> Vec<String> {
    cells.iter().map(|cell| (*cell).to_owned()).collect()
}

/// Best GFLOPS, share of the peak, and gain over the run without learning.
fn table_2(report: &Report) -> Vec<Vec<String>> {
    let mut rows = vec![row(&[
        "Setting",
        "Best GFLOPS",
        "Peak ratio",
        "Learning gain",
    ])];
    for run in &report.runs {
        let Some(best) = &run.best else {
            rows.push(row(&[&label(&run.config), "-", "-", "-"]));
            continue;
        };
        let control = report.runs.iter().find(|other| {
            other.config.learning.rate <= 0.0
                && other.config.bench.how.opt == run.config.bench.how.opt
        });
        let gain = control
            .filter(|_| run.config.learning.rate > 0.0)
            .and_then(|control| control.best.as_ref())
            .map_or("-".to_owned(), |control| {
                format!("{:+.0} %", (best.speed / control.speed - 1.0) * 100.0)
            });
        let share = best
            .peak_fraction
            .map_or("-".to_owned(), |share| format!("{:.1} %", share * 100.0));
        rows.push(vec![
            label(&run.config),
            format!("{:.2}", best.speed),
            share,
            gain,
        ]);
    }
    rows
}

/// The structure of the best code of each run.
fn table_3(report: &Report) -> Vec<Vec<String>> {
    let head = [
        "Setting",
        "GFLOPS",
        "Blocking",
        "Threads",
        "Prefetch",
        "Accumulators",
        "Tile",
        "SIMD",
        "C read back",
    ];
    let mut rows = vec![row(&head)];
    for run in &report.runs {
        let Some(best) = &run.best else { continue };
        let features = &best.features;
        rows.push(vec![
            label(&run.config),
            format!("{:.2}", best.speed),
            features.blocking_text(),
            features.threads.to_string(),
            features.prefetch.to_string(),
            features.accumulators.to_string(),
            features
                .register_tile
                .map_or("none".to_owned(), |(rows, columns)| {
                    format!("{rows}x{columns}")
                }),
            features
                .simd_bits
                .map_or("none".to_owned(), |bits| bits.to_string()),
            if features.read_modify_write {
                "yes"
            } else {
                "no"
            }
            .to_owned(),
        ]);
    }
    rows
}
