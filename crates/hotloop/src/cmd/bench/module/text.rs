//! Verdicts on answers, as tables.

use hotloop_flow::ErrorKind;
use hotloop_flow::fast::{Fast, Scores, THRESHOLDS};

use super::sitting::{Came, Failed};
use crate::output::table::Table;
use crate::output::{count, number, seconds};

/// What became of an answer.
pub(super) struct Line {
    pub(super) answer: String,
    /// What it earns, if a reward was asked for and it has one.
    pub(super) reward: Option<f64>,
    pub(super) came: Came,
}

/// One line an answer.
pub(super) fn table(lines: &[Line]) -> String {
    let mut table = Table::new()
        .left("answer")
        .left("verdict")
        .right("time")
        .right("eager")
        .right("compiled")
        .right("over eager")
        .right("over compiled")
        .right("error");
    let with_reward = lines.iter().any(|line| line.reward.is_some());
    if with_reward {
        table = table.right("reward");
    }
    let time = |value: Option<f64>| value.map_or("-".to_owned(), seconds);
    let ratio = |value: Option<f64>| value.map_or("-".to_owned(), number);
    for Line {
        answer,
        reward,
        came,
    } in lines
    {
        let record = match came {
            Ok(record) => record,
            Err(Failed { kind, why }) => {
                let mut cells = vec![answer.as_str(), "no verdict"];
                cells.resize(8 + usize::from(with_reward), "-");
                table.row(cells);
                let what = match kind {
                    ErrorKind::Machine => "the machine failed: ",
                    ErrorKind::User => "",
                };
                table.below(format!("  {what}{why}"));
                continue;
            }
        };
        let mut cells = vec![
            answer.clone(),
            record.verdict.name().to_owned(),
            time(record.seconds),
            time(record.eager_s),
            time(record.compiled_s),
            ratio(record.over_eager),
            ratio(record.over_compiled),
            record
                .error
                .map_or("-".to_owned(), |error| format!("{error:.1e}")),
        ];
        if with_reward {
            cells.push(reward.map_or("-".to_owned(), |reward| format!("{reward:.3}")));
        }
        table.row(cells);
        for line in record.why.iter().flat_map(|why| why.lines()).take(DETAIL) {
            table.below(format!("  {}", clean(line)));
        }
    }
    table.render()
}

/// Lines of a reason that are shown.
const DETAIL: usize = 6;

/// Removes control characters, so that an answer's text cannot control the terminal.
fn clean(line: &str) -> String {
    let shown = |c: char| if c.is_control() { ' ' } else { c };
    line.chars().map(shown).take(300).collect()
}

/// How many answers are correct, and how fast those are. `without` have no verdict, which says
/// nothing about them.
pub(super) fn summary(scores: &Scores, without: usize) -> String {
    let without = match without {
        0 => String::new(),
        some => format!(" {} without a verdict.", count(some, "answer")),
    };
    let said = format!(
        "{}: {} compile, {} correct.{without}",
        count(scores.answers, "verdict"),
        scores.compiled,
        scores.correct
    );
    let mut table = Table::new().left("baseline");
    for threshold in THRESHOLDS {
        table = table.right(format!("fast_{threshold}"));
    }
    let mut table = table.right("geometric mean");
    let sides = [
        ("eager", &scores.over.eager),
        ("compiled", &scores.over.compiled),
    ];
    let mut is_empty = true;
    for (name, fast) in sides {
        let Some(Fast {
            fast_p,
            geometric_mean,
        }) = fast
        else {
            continue;
        };
        let mut cells = vec![name.to_owned()];
        cells.extend(fast_p.iter().map(|share| format!("{share:.3}")));
        cells.push(number(*geometric_mean));
        table.row(cells);
        is_empty = false;
    }
    if is_empty {
        said
    } else {
        format!("{said}\n\n{}", table.render())
    }
}
