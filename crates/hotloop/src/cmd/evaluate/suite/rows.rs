//! The table of a suite: the baselines first, then each policy over all tasks, and task by task.

use hotloop_run::Scores;
use serde::Serialize;

use super::cell::Cell;
use crate::output::number;
use crate::output::table::Table;

/// Explains the columns, once.
pub(super) const FOOT: &str = "Shares are of the judged answers. fast_p is the share of answers that are \
    correct and more than p times as fast as the baseline, which is the library of a task or else its \
    seed. A policy's first row is the mean of its tasks; its speed-up is the geometric mean.";

/// The titles of the columns.
const COLUMNS: [&str; 14] = [
    "policy", "task", "baseline", "compiled", "correct", "runtime", "speed-up", "fast_0", "fast_1",
    "fast_1.2", "fast_1.5", "fast_2", "tokens", "seconds",
];

/// All cells of a suite.
#[derive(Debug, Serialize)]
pub(super) struct Sheet {
    pub(super) title: String,
    pub(super) machine: String,
    pub(super) cells: Vec<Cell>,
}

/// One row, as text.
pub(super) struct Row {
    pub(super) cells: [String; 14],
    /// Whether it sums up others.
    pub(super) is_summary: bool,
}

impl Sheet {
    pub(super) fn new(title: String) -> Self {
        Self {
            title,
            machine: String::new(),
            cells: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, cell: Cell) {
        self.cells.push(cell);
    }

    pub(super) fn columns() -> &'static [&'static str] {
        &COLUMNS
    }

    /// All rows, from top to bottom.
    pub(super) fn rows(&self) -> Vec<Row> {
        let mut rows = self.baselines();
        let mut policies: Vec<&str> = Vec::new();
        for cell in &self.cells {
            if !policies.contains(&cell.policy.as_str()) {
                policies.push(&cell.policy);
            }
        }
        for policy in policies {
            let of: Vec<&Cell> = self
                .cells
                .iter()
                .filter(|cell| cell.policy == policy)
                .collect();
            if of.len() > 1 {
                rows.push(summary(policy, &of));
            }
            rows.extend(of.into_iter().map(row));
        }
        rows
    }

    /// The seed and the library of each task.
    fn baselines(&self) -> Vec<Row> {
        let mut rows: Vec<Row> = Vec::new();
        let mut seen: Vec<&str> = Vec::new();
        for cell in &self.cells {
            if seen.contains(&cell.task.as_str()) {
                continue;
            }
            seen.push(&cell.task);
            let Scores {
                baseline,
                baseline_seconds,
                ..
            } = &cell.scores;
            if baseline != Scores::SEED {
                rows.push(program(baseline, cell, *baseline_seconds));
            }
            rows.push(program(Scores::SEED, cell, cell.seed_seconds));
        }
        rows
    }

    pub(super) fn table(&self) -> Table {
        let empty = Table::new();
        let mut table = COLUMNS
            .iter()
            .enumerate()
            .fold(empty, |table, (at, title)| {
                if at < 3 {
                    table.left(*title)
                } else {
                    table.right(*title)
                }
            });
        for row in self.rows() {
            table.row(row.cells);
        }
        table
    }

    pub(super) fn markdown(&self) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let escaped = |text: &str| text.replace('|', "\\|");
        let head = COLUMNS.map(str::to_owned);
        let mut text = format!("# {}\n\n{}", escaped(&self.title), line(&head));
        text += &line(&COLUMNS.map(|_| "---".to_owned()));
        for row in self.rows() {
            text += &line(&row.cells.map(|cell| escaped(&cell)));
        }
        format!("{text}\n{FOOT}\n\nJudged on: {}.\n", self.machine)
    }

    pub(super) fn csv(&self) -> String {
        let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
        let mut lines = vec![COLUMNS.join(",")];
        for row in self.rows() {
            lines.push(row.cells.map(|cell| quoted(&cell)).join(","));
        }
        lines.join("\n") + "\n"
    }

    pub(super) fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("it has a JSON form")
    }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// Seconds in the unit that fits.
fn duration(seconds: f64) -> String {
    let (value, unit) = match seconds {
        _ if seconds < 1e-3 => (seconds * 1e6, "us"),
        _ if seconds < 1.0 => (seconds * 1e3, "ms"),
        _ => (seconds, "s"),
    };
    format!("{} {unit}", number(value))
}

fn times(ratio: f64) -> String {
    format!("{}x", number(ratio))
}

/// The row of a program that nobody generated.
fn program(name: &str, cell: &Cell, seconds: f64) -> Row {
    let mut cells = [const { String::new() }; 14];
    name.clone_into(&mut cells[0]);
    cells[1].clone_from(&cell.task);
    cells[2].clone_from(&cell.scores.baseline);
    cells[5] = duration(seconds);
    cells[6] = times(cell.scores.baseline_seconds / seconds);
    Row {
        cells,
        is_summary: false,
    }
}

fn row(cell: &Cell) -> Row {
    let Scores {
        compiled,
        correct,
        mean_seconds,
        baseline,
        geometric_mean,
        fast,
        ..
    } = &cell.scores;
    let fast: Vec<String> = fast.iter().map(|(_, share)| percent(*share)).collect();
    let fast = |at: usize| fast.get(at).cloned().unwrap_or_default();
    let cells = [
        cell.policy.clone(),
        cell.task.clone(),
        baseline.clone(),
        percent(*compiled),
        percent(*correct),
        mean_seconds.map(duration).unwrap_or_default(),
        geometric_mean.map(times).unwrap_or_default(),
        fast(0),
        fast(1),
        fast(2),
        fast(3),
        fast(4),
        cell.tokens.to_string(),
        number(cell.sampling_seconds + cell.judging_seconds),
    ];
    Row {
        cells,
        is_summary: false,
    }
}

/// A policy over all its tasks, which count alike. Runtimes of different tasks have no mean.
fn summary(policy: &str, of: &[&Cell]) -> Row {
    let mean = |value: &dyn Fn(&Cell) -> f64| {
        percent(of.iter().map(|cell| value(cell)).sum::<f64>() / of.len() as f64)
    };
    let fast = |at: usize| mean(&|cell| cell.scores.fast.get(at).map_or(0.0, |(_, share)| *share));
    let speedups: Vec<f64> = of
        .iter()
        .filter_map(|cell| cell.scores.geometric_mean)
        .collect();
    let speedup = (!speedups.is_empty()).then(|| {
        let logs: f64 = speedups.iter().map(|ratio| ratio.ln()).sum();
        times((logs / speedups.len() as f64).exp())
    });
    let seconds: f64 = of
        .iter()
        .map(|cell| cell.sampling_seconds + cell.judging_seconds)
        .sum();
    let cells = [
        policy.to_owned(),
        format!("all {}", of.len()),
        String::new(),
        mean(&|cell| cell.scores.compiled),
        mean(&|cell| cell.scores.correct),
        String::new(),
        speedup.unwrap_or_default(),
        fast(0),
        fast(1),
        fast(2),
        fast(3),
        fast(4),
        of.iter().map(|cell| cell.tokens).sum::<usize>().to_string(),
        number(seconds),
    ];
    Row {
        cells,
        is_summary: true,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn cell(policy: &str, task: &str, correct: f64) -> Cell {
        Cell {
            policy: policy.to_owned(),
            task: task.to_owned(),
            seed_seconds: 4e-3,
            scores: Scores {
                answers: 4,
                compiled: 1.0,
                correct,
                mean_seconds: Some(2e-3),
                baseline: "OpenBLAS".to_owned(),
                baseline_seconds: 1e-3,
                geometric_mean: Some(0.5),
                fast: vec![
                    (0.0, correct),
                    (1.0, 0.0),
                    (1.2, 0.0),
                    (1.5, 0.0),
                    (2.0, 0.0),
                ],
            },
            verdicts: [(hotloop_flow::Label::Correct, 4)].into(),
            best_speedup: None,
            tokens: 100,
            sampling_seconds: 1.0,
            judging_seconds: 2.0,
        }
    }

    fn sheet() -> Sheet {
        let mut sheet = Sheet::new("a | b".to_owned());
        sheet.add(cell("base", "matmul", 0.5));
        sheet.add(cell("base", "fft", 1.0));
        sheet
    }

    #[test]
    fn baselines_come_first_and_a_policy_is_summed_up() {
        let rows = sheet().rows();
        let names: Vec<(&str, &str)> = rows
            .iter()
            .map(|row| (row.cells[0].as_str(), row.cells[1].as_str()))
            .collect();
        let expect = [
            ("OpenBLAS", "matmul"),
            ("the seed", "matmul"),
            ("OpenBLAS", "fft"),
            ("the seed", "fft"),
            ("base", "all 2"),
            ("base", "matmul"),
            ("base", "fft"),
        ];
        assert_eq!(names, expect);
        assert_eq!(
            rows[1].cells[6], "0.250x",
            "the seed takes four times as long"
        );
        assert!(rows[4].is_summary);
        assert_eq!(
            (rows[4].cells[4].as_str(), rows[4].cells[12].as_str()),
            ("75 %", "200")
        );
    }

    #[test]
    fn a_bar_in_a_title_does_not_break_the_table() {
        let text = sheet().markdown();
        assert!(text.starts_with("# a \\| b\n"), "{text}");
        assert_eq!(sheet().csv().lines().count(), 8);
    }
}
