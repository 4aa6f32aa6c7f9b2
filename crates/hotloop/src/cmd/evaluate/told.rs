//! An evaluation for people: a table for each task, a row for each policy.

use hotloop_flow::Label;
use hotloop_run::probe::Estimate;

use super::line::Line;
use crate::output::table::Table;
use crate::output::{count, number, percent, say};

/// Explains the columns, once.
const FOOT: &str = "Speed-up is relative to the task's naive seed: of the correct answers, and of \
    all with failures as 0. Brackets are bootstrap 95 % intervals.\nBest is the fastest candidate \
    by the median of three fresh timings. Answers that are copies share one timing.";

/// Prints the results, task by task.
pub(super) fn tell(lines: &[Line]) {
    let mut tasks: Vec<&str> = Vec::new();
    for line in lines {
        if !tasks.contains(&line.task.as_str()) {
            tasks.push(&line.task);
        }
    }
    for task in tasks {
        let of: Vec<&Line> = lines.iter().filter(|line| line.task == task).collect();
        say(&format!("{}\n{}\n", head(of[0]), table(&of).render()));
    }
    say(FOOT);
}

fn head(line: &Line) -> String {
    format!(
        "{}: {} to each of {} at temperature {}, -{}, {}; the seed has {} {}",
        line.task,
        count(line.count as usize, "answer"),
        count(line.stages.len(), "stage"),
        line.temperature,
        line.opt,
        count(line.threads as usize, "thread"),
        line.seed_speed.map_or("-".to_owned(), number),
        line.evaluation.unit
    )
}

fn table(lines: &[&Line]) -> Table {
    let unit = lines.first().map_or("", |line| line.evaluation.unit);
    let baseline = lines
        .iter()
        .find_map(|line| Some(line.best.as_ref()?.baseline.as_ref()?.name.as_str()))
        .unwrap_or("baseline");
    let mut table = Table::new()
        .left("policy")
        .left("correct")
        .right("distinct")
        .left("speed-up: median")
        .left("mean")
        .left("of all: median")
        .left("mean")
        .left(format!("mean {unit}"))
        .right(format!("best {unit}"))
        .right(format!("of {baseline}"))
        .right("of peak");
    for line in lines {
        let found = &line.evaluation;
        let among = found.speedup_correct;
        let best = line.best.as_ref();
        let blank = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        table.row([
            line.policy.clone(),
            shares(found.correct),
            line.distinct.to_string(),
            blank(among.map(|speedup| times(speedup.median))),
            blank(among.map(|speedup| times(speedup.mean))),
            times(found.speedup_all.median),
            times(found.speedup_all.mean),
            times(found.speed),
            blank(best.map(|best| number(best.speed))),
            best.and_then(|best| best.baseline_ratio)
                .map(|ratio| format!("{ratio:.2}"))
                .unwrap_or_default(),
            best.and_then(|best| best.peak_fraction)
                .map(percent)
                .unwrap_or_default(),
        ]);
        table.below(verdicts(line));
    }
    table
}

/// The share of each verdict that occurred.
fn verdicts(line: &Line) -> String {
    let found = &line.evaluation;
    let all = (found.answers + found.masked) as f64;
    let share = |label: &Label| {
        Some(format!(
            "{label} {}",
            percent(*found.verdicts.get(label)? as f64 / all)
        ))
    };
    let mut parts: Vec<String> = Label::ALL.iter().filter_map(share).collect();
    if found.masked > 0 {
        parts.push(format!("not judged {}", percent(found.masked as f64 / all)));
    }
    parts.join(", ")
}

fn shares(share: Estimate) -> String {
    format!(
        "{:.0} % [{:.0}, {:.0}]",
        share.value * 100.0,
        share.low * 100.0,
        share.high * 100.0
    )
}

fn times(estimate: Estimate) -> String {
    format!(
        "{} [{}, {}]",
        number(estimate.value),
        number(estimate.low),
        number(estimate.high)
    )
}
