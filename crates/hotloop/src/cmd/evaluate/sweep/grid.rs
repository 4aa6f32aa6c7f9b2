//! The figures of a sweep as text: a table of the policies, and one of the problems.

use hotloop_flow::Label;
use hotloop_flow::fast::THRESHOLDS;

use super::fate::Fate;
use super::sheet::{Counted, Row, Sheet, taken};
use crate::output::table::Table;
use crate::output::{number, percent, seconds};

/// Explains the columns, once.
pub(super) const FOOT: &str = "Answers without a verdict do not count. `correct` counts those that are \
    right in every run, and `rate` is their share, with Wilson's 95 % interval. `time` is the mean of the \
    correct answers, and `torch` the mean of torch for the same answers. fast_p is the share of all \
    answers that are correct and more than p times as fast as torch; `speed-up` is the geometric mean over \
    the correct ones, slower ones included. `seconds` is the time that the policy wrote.";

/// Titles and rows of text. The first columns hold words.
pub(super) struct Grid {
    pub(super) titles: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
    /// How many columns hold words.
    pub(super) words: usize,
}

/// The table of the policies, without columns that are empty.
pub(super) fn policies(sheet: &Sheet) -> Grid {
    let grid = Grid {
        titles: titles(),
        rows: sheet.rows.iter().map(cells).collect(),
        words: 2,
    };
    grid.used()
}

fn titles() -> Vec<String> {
    let before = [
        "policy",
        "baseline",
        "answers",
        "no verdict",
        "compiled",
        "correct",
        "rate",
        "interval",
        "time",
        "torch",
    ];
    let fast = THRESHOLDS.map(|threshold| format!("fast_{threshold}"));
    let after = ["speed-up", "reward", "tokens", "seconds"];
    let own = |titles: &[&str]| -> Vec<String> { titles.iter().map(|&it| it.to_owned()).collect() };
    [own(&before), fast.to_vec(), own(&after)].concat()
}

fn cells(row: &Row) -> Vec<String> {
    let text = |value: Option<String>| value.unwrap_or_default();
    let mut cells = vec![row.name.clone(), row.beside.to_owned()];
    let scores = row.scores.as_ref();
    let counted = |of: fn(&Counted) -> usize| text(scores.map(|scores| of(scores).to_string()));
    let without = scores
        .map(|scores| scores.without)
        .filter(|without| *without > 0);
    let rate = scores.and_then(|scores| scores.rate);
    cells.extend([
        counted(|scores| scores.answers),
        text(without.map(|without| without.to_string())),
        counted(|scores| scores.compiled),
        counted(|scores| scores.correct),
        text(rate.map(|rate| percent(rate.value))),
        text(rate.map(|rate| format!("{} to {}", percent(rate.low), percent(rate.high)))),
        text(row.seconds.map(seconds)),
        text(row.baseline_s.map(seconds)),
    ]);
    let fast = scores.and_then(|scores| scores.fast_p);
    cells.extend((0..THRESHOLDS.len()).map(|at| text(fast.map(|fast| percent(fast[at])))));
    cells.extend([
        text(row.speed_up.map(times)),
        text(scores.and_then(|scores| Some(format!("{:.3}", scores.reward?)))),
        text(scores.and_then(|scores| Some(scores.tokens?.to_string()))),
        text(scores.map(|scores| number(scores.writing_s))),
    ]);
    cells
}

fn times(ratio: f64) -> String {
    format!("{}x", number(ratio))
}

/// How many answers of each policy have each verdict.
pub(super) fn verdicts(sheet: &Sheet) -> Grid {
    let mut titles = vec!["policy".to_owned()];
    titles.extend(Label::ALL.map(|label| label.name().to_owned()));
    titles.push("no verdict".to_owned());
    let row = |row: &Row| {
        let scores = row.scores.as_ref().filter(|_| row.beside == "eager")?;
        let shown = |count: usize| match count {
            0 => String::new(),
            some => some.to_string(),
        };
        let mut cells = vec![row.name.clone()];
        let count = |label| scores.verdicts.get(&label).copied().unwrap_or(0);
        cells.extend(Label::ALL.map(|label| shown(count(label))));
        cells.push(shown(scores.without));
        Some(cells)
    };
    let grid = Grid {
        titles,
        rows: sheet.rows.iter().filter_map(row).collect(),
        words: 1,
    };
    grid.used()
}

/// What became of each problem.
pub(super) fn problems(sheet: &Sheet) -> Grid {
    let mut titles = ["problem", "eager", "compiled"].map(str::to_owned).to_vec();
    titles.extend(sheet.policies.iter().cloned());
    let time = |value: Option<f64>| value.map(seconds).unwrap_or_default();
    let row = |problem: &String| {
        let mut cells = vec![
            problem.clone(),
            time(taken(problem, &sheet.answers, |fate| fate.eager_s)),
            time(taken(problem, &sheet.answers, |fate| fate.compiled_s)),
        ];
        cells.extend(sheet.policies.iter().map(|policy| {
            let of = |fate: &&Fate| fate.task == *problem && fate.policy == *policy;
            outcome(&sheet.answers.iter().filter(of).collect::<Vec<_>>())
        }));
        cells
    };
    let grid = Grid {
        titles,
        rows: sheet.problems.iter().map(row).collect(),
        words: 1,
    };
    grid.used()
}

/// What became of a policy's answers to a problem: the fastest that is correct, or else the verdict
/// that came furthest.
fn outcome(answers: &[&Fate]) -> String {
    let correct = answers
        .iter()
        .filter(|fate| fate.verdict == Some(Label::Correct));
    let fastest = correct.clone().filter_map(|fate| fate.over_eager);
    let fastest = fastest.max_by(f64::total_cmp).map(times);
    let furthest = answers.iter().filter_map(|fate| fate.verdict).max();
    let word = match furthest {
        None if answers.is_empty() => return String::new(),
        None => "no verdict",
        Some(_) if correct.clone().next().is_some() => Label::Correct.name(),
        Some(label) => label.name(),
    };
    let share = match answers.len() {
        1 => String::new(),
        all => format!("{} of {all} ", correct.count()),
    };
    let what = if share.is_empty() || word == Label::Correct.name() {
        word.to_owned()
    } else {
        format!("correct, {word}")
    };
    match fastest {
        Some(fastest) => format!("{share}{what} {fastest}"),
        None => format!("{share}{what}"),
    }
}

impl Grid {
    /// Leaves out columns without content.
    fn used(self) -> Self {
        let has = |at: &usize| self.rows.iter().any(|row| !row[*at].is_empty());
        let used: Vec<usize> = (0..self.titles.len()).filter(has).collect();
        let pick = |row: &Vec<String>| used.iter().map(|at| row[*at].clone()).collect();
        Self {
            titles: pick(&self.titles),
            rows: self.rows.iter().map(pick).collect(),
            words: used.iter().filter(|at| **at < self.words).count(),
        }
    }

    /// For a terminal.
    pub(super) fn terminal(&self) -> String {
        let titles = self.titles.iter().enumerate();
        let mut table = titles.fold(Table::new(), |table, (at, title)| {
            if at < self.words {
                table.left(title)
            } else {
                table.right(title)
            }
        });
        for row in &self.rows {
            table.row(row);
        }
        table.render()
    }

    /// For Markdown.
    pub(super) fn markdown(&self) -> String {
        let escaped = |text: &String| text.replace('|', "\\|");
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(escaped).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let rule = |at: usize| if at < self.words { "---" } else { "---:" }.to_owned();
        let rules: Vec<String> = (0..self.titles.len()).map(rule).collect();
        let rows: String = self.rows.iter().map(|row| line(row)).collect();
        format!("{}{}{rows}", line(&self.titles), line(&rules))
    }
}

/// The whole page in Markdown.
pub(super) fn markdown(sheet: &Sheet) -> String {
    format!(
        "# {}\n\n{}\n{FOOT}\n\n{}\n\n## Verdicts\n\n{}\n## Problems\n\n{}",
        sheet.title,
        policies(sheet).markdown(),
        circumstances(sheet),
        verdicts(sheet).markdown(),
        problems(sheet).markdown()
    )
}

/// How it was asked and judged.
pub(super) fn circumstances(sheet: &Sheet) -> String {
    let asked = &sheet.asked;
    format!(
        "{} a problem and policy, temperature {}, at most {} tokens.{}{} {}, torch {}, TF32 off.",
        hotloop_flow::count(asked.count as usize, "answer"),
        asked.temperature,
        asked.max_tokens,
        match asked.runs {
            0 => String::new(),
            runs => format!(" At least {runs} verified runs an answer."),
        },
        asked.reward.map_or(String::new(), |reward| {
            format!(" Reward {}.", reward.name())
        }),
        sheet.gpu.as_deref().unwrap_or("No GPU"),
        sheet.torch.as_deref().unwrap_or("none")
    )
}

/// The figures as comma-separated values: seconds and shares as numbers.
pub(super) fn csv(sheet: &Sheet) -> String {
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let mut titles: Vec<String> = [
        "policy",
        "baseline",
        "answers",
        "without",
        "compiled",
        "correct",
        "rate",
        "low",
        "high",
        "seconds",
        "torch_seconds",
    ]
    .map(str::to_owned)
    .to_vec();
    titles.extend(THRESHOLDS.map(|threshold| format!("fast_{threshold}")));
    titles.extend(["speed_up", "reward", "tokens", "writing_seconds"].map(str::to_owned));
    let mut lines = vec![titles.join(",")];
    let figure = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let whole = |value: Option<usize>| value.map(|value| value.to_string()).unwrap_or_default();
    for row in &sheet.rows {
        let scores = row.scores.as_ref();
        let counted = |of: fn(&Counted) -> usize| whole(scores.map(of));
        let rate = scores.and_then(|scores| scores.rate);
        let mut cells = vec![
            quoted(&row.name),
            row.beside.to_owned(),
            counted(|scores| scores.answers),
            counted(|scores| scores.without),
            counted(|scores| scores.compiled),
            counted(|scores| scores.correct),
            figure(rate.map(|rate| rate.value)),
            figure(rate.map(|rate| rate.low)),
            figure(rate.map(|rate| rate.high)),
            figure(row.seconds),
            figure(row.baseline_s),
        ];
        let fast = scores.and_then(|scores| scores.fast_p);
        cells.extend((0..THRESHOLDS.len()).map(|at| figure(fast.map(|fast| fast[at]))));
        cells.extend([
            figure(row.speed_up),
            figure(scores.and_then(|scores| scores.reward)),
            whole(scores.and_then(|scores| scores.tokens)),
            figure(scores.map(|scores| scores.writing_s)),
        ]);
        lines.push(cells.join(","));
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::super::sheet::tests::{fate, right, sheet};
    use super::*;

    #[test]
    fn a_table_holds_what_was_measured() {
        let text = markdown(&sheet());
        for line in [
            "| PyTorch eager, 2 problems | eager |",
            "| tuned | eager | 4 |  | 3 | 2 | 50 % | 15 % to 85 % | 1.50 ms | 3.00 ms | 50 % | 25 % |",
            "| base | eager | 3 | 1 | 1 | 1 | 33 % |",
            "| kernelbench/1/1 | 4.00 ms | 2.00 ms | not-compiled | correct 4.00x |",
            "| policy | malformed | refused | not-compiled | wrong | correct | no verdict |",
            "| base | 1 |  | 1 |  | 1 | 1 |",
            "| kernelbench/1/4 |  |  | no verdict | wrong |",
            "1 answer a problem and policy, temperature 0, at most 2048 tokens. NVIDIA H200, torch none",
        ] {
            assert!(text.contains(line), "{line} is missing in\n{text}");
        }
        assert!(!policies(&sheet()).terminal().contains("Wilson"));
    }

    #[test]
    fn numbers_are_numbers_for_programs() {
        let text = csv(&sheet());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 7);
        assert_eq!(lines[0].split(',').count(), 20);
        assert!(
            lines[5].starts_with("\"tuned\",eager,4,0,3,2,0.5,0.15"),
            "{text}"
        );
        assert!(lines[5].ends_with(",400,8"), "{text}");
    }

    #[test]
    fn several_answers_are_summed_up() {
        let answers = [
            right("base", 1, 1.0, 2.0, 1.0),
            fate("base", 1, Some(Label::Suspect)),
            right("base", 1, 2.0, 2.0, 1.0),
        ];
        let all: Vec<&Fate> = answers.iter().collect();
        assert_eq!(outcome(&all), "2 of 3 correct 2.00x");
        let broken = [
            fate("base", 1, Some(Label::Malformed)),
            fate("base", 1, Some(Label::Wrong)),
        ];
        let all: Vec<&Fate> = broken.iter().collect();
        assert_eq!(outcome(&all), "0 of 2 correct, wrong");
        assert_eq!(outcome(&all[..1]), "malformed");
        assert_eq!(outcome(&[]), "");
    }

    #[test]
    fn a_bar_in_a_name_does_not_break_a_table() {
        let mut sheet = sheet();
        sheet.rows[2].name = "a|b".to_owned();
        assert!(markdown(&sheet).contains("| a\\|b |"));
    }
}
