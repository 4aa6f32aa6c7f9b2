//! Verdicts for people: a row for each file, or counts for many completions.

use std::collections::{BTreeMap, BTreeSet};

use hotloop_bench::Settings;
use hotloop_flow::how::Estimator;
use hotloop_flow::verdict::Measured;
use hotloop_flow::{Device, Label, Language, MachineFacts, Verdict, statistics};
use serde_json::Value;

use super::items::{self, Item};
use super::judged::Judged;
use crate::cli::JudgeArgs;
use crate::output::table::Table;
use crate::output::{count, number, percent, say, seconds};

/// Lines of a failure's detail that are shown by default.
const DETAIL_LINES: usize = 2;
/// Characters shown of one line of detail. The longest expected signature fits.
const DETAIL_WIDTH: usize = 180;
/// Maximum number of values of a key that splits the counts.
const GROUPS_MAX: usize = 8;

/// Prints everything.
pub(crate) fn print(
    arguments: &JudgeArgs,
    settings: &Settings,
    facts: &[(Language, MachineFacts)],
    items: &[Item],
    all: &[Judged<'_>],
    stopped: bool,
) {
    let mut text = Vec::new();
    let many = arguments.completions.is_some();
    if !all.is_empty() && (!many || arguments.verbose) {
        text.push(rows(arguments, all));
    }
    if many && !all.is_empty() {
        text.push(counts(all));
        text.extend(best(all));
    }
    text.extend(repeats(arguments, all));
    text.push(closing(arguments, settings, facts, items, all, stopped));
    say(&text.join("\n\n"));
}

fn rows(arguments: &JudgeArgs, all: &[Judged<'_>]) -> String {
    let tasks: BTreeSet<&str> = all
        .iter()
        .map(|judged| judged.item.task.spec.name.as_str())
        .collect();
    let speed = speed_head(all);
    let mut table = Table::new()
        .left("task")
        .left("file")
        .left("verdict")
        .right(speed)
        .right("of peak")
        .right("of roof")
        .right(baseline_head(all))
        .right("spread")
        .right("reward")
        .right("seconds");
    for judged in all {
        let task = if tasks.len() > 1 {
            judged.item.task.spec.name.clone()
        } else {
            String::new()
        };
        let file = match judged.round {
            Some(round) => format!("{} #{round}", judged.item.file),
            None => judged.item.file.clone(),
        };
        // The plain ladder's reward is GFLOPS, which have a column already.
        let reward = match arguments.reward {
            hotloop_flow::Reward::Ladder if speed == "GFLOPS" => String::new(),
            _ => judged
                .reward
                .map_or("masked".to_owned(), |reward| format!("{reward:.3}")),
        };
        let mut cells = vec![task, file];
        match &judged.reply {
            Ok(judgement) => {
                cells.push(judgement.verdict.label().to_string());
                cells.extend(judgement.verdict.measured().map_or_else(
                    || vec![String::new(); 5],
                    |measured| measures(measured, judged.item.task.spec.language),
                ));
                cells.push(reward);
                cells.push(format!(
                    "{:.2}",
                    judgement.seconds.compile + judgement.seconds.run
                ));
                table.row(cells);
                detail(&mut table, &judgement.verdict, arguments.verbose);
            }
            Err(error) => {
                cells.push("no verdict".to_owned());
                table.row(cells);
                table.below(format!("the machine failed: {}", error.what));
                if let Some(hint) = &error.hint {
                    table.below(format!("hint: {hint}"));
                }
            }
        }
        for note in judged.item.notes().iter().filter(|_| arguments.verbose) {
            table.below(format!("note: {note}"));
        }
    }
    table.render()
}

/// The heading of the speed column: GFLOPS, or the unit is in the cells.
fn speed_head(all: &[Judged<'_>]) -> &'static str {
    let is_gflops = |judged: &Judged<'_>| {
        let task = &judged.item.task;
        task.spec.language == Language::C && task.counts_operations()
    };
    if all.iter().all(is_gflops) {
        "GFLOPS"
    } else {
        "speed"
    }
}

/// The heading of the ratio column: the baseline's name if there is one.
fn baseline_head(all: &[Judged<'_>]) -> String {
    let mut names = all.iter().filter_map(|judged| {
        let measured = judged.reply.as_ref().ok()?.verdict.measured()?;
        Some(measured.baseline.as_ref()?.name.as_str())
    });
    match names.next() {
        Some(first) if names.all(|name| name == first) => format!("of {first}"),
        _ => "of baseline".to_owned(),
    }
}

/// The speed of a call: GFLOPS on a CPU, and on a GPU the rate of what limits the task. It is the
/// time of a call if the task counts no operations.
fn speed(measured: &Measured, language: Language) -> String {
    let rate = match language {
        Language::C => measured.gflops().map(number),
        Language::Cuda | Language::Torch => measured.rate().map(|rate| rate.to_string()),
    };
    rate.unwrap_or_else(|| seconds(measured.seconds))
}

fn measures(measured: &Measured, language: Language) -> Vec<String> {
    let timing = &measured.timing;
    let quiet = if timing.quiet { "" } else { "~" };
    vec![
        speed(measured, language),
        measured.peak_fraction().map(percent).unwrap_or_default(),
        measured
            .roof
            .map(|roof| percent(roof.seconds / measured.seconds))
            .unwrap_or_default(),
        measured
            .baseline_ratio()
            .map(|ratio| format!("{ratio:.2}x"))
            .unwrap_or_default(),
        format!("{quiet}{}", percent(timing.cv)),
    ]
}

fn detail(table: &mut Table, verdict: &Verdict, verbose: bool) {
    let detail = verdict.detail();
    let lines: Vec<&str> = detail
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let shown = if verbose {
        lines.len()
    } else {
        lines.len().min(DETAIL_LINES)
    };
    for line in &lines[..shown] {
        table.below(if verbose {
            clean(line)
        } else {
            shorten(&clean(line))
        });
    }
    if shown < lines.len() {
        table.below(format!(
            "... {} more (--verbose)",
            count(lines.len() - shown, "line")
        ));
    }
}

/// Removes control characters, so that a candidate's text cannot control the terminal.
fn clean(line: &str) -> String {
    line.trim_end()
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

fn shorten(line: &str) -> String {
    if line.chars().count() <= DETAIL_WIDTH {
        return line.to_owned();
    }
    line.chars()
        .take(DETAIL_WIDTH - 3)
        .chain("...".chars())
        .collect()
}

/// Verdicts and their shares, split by a key of the completions that has few values.
fn counts(all: &[Judged<'_>]) -> String {
    let groups = groups(all);
    let mut table = Table::new().left("verdict").right("count").right("share");
    for group in &groups {
        table = table.right(group);
    }
    let label = |judged: &Judged<'_>| {
        judged
            .reply
            .as_ref()
            .ok()
            .map(|judgement| judgement.verdict.label())
    };
    let mut row = |name: &str, belongs: &dyn Fn(&&Judged<'_>) -> bool| {
        let number = all.iter().filter(|judged| belongs(judged)).count();
        if number == 0 {
            return;
        }
        let mut cells = vec![
            name.to_owned(),
            number.to_string(),
            percent(number as f64 / all.len() as f64),
        ];
        for group in &groups {
            let inside = all
                .iter()
                .filter(|judged| belongs(judged) && group_of(judged) == Some(group))
                .count();
            cells.push(inside.to_string());
        }
        table.row(cells);
    };
    for wanted in Label::ALL {
        row(wanted.name(), &|judged| label(judged) == Some(wanted));
    }
    row("no verdict", &|judged| label(judged).is_none());
    row("all", &|_| true);
    table.render()
}

fn group_of<'a>(judged: &'a Judged<'_>) -> Option<&'a str> {
    ["prompt", "kind"]
        .iter()
        .find_map(|key| judged.item.carried.get(*key))
        .and_then(Value::as_str)
}

fn groups(all: &[Judged<'_>]) -> Vec<String> {
    let values: BTreeSet<&str> = all.iter().filter_map(group_of).collect();
    let is_short = values
        .iter()
        .all(|value| value.len() <= 16 && !value.contains('\n'));
    let fits = is_short && (2..=GROUPS_MAX).contains(&values.len());
    if fits {
        values.into_iter().map(str::to_owned).collect()
    } else {
        Vec::new()
    }
}

fn best(all: &[Judged<'_>]) -> Option<String> {
    let correct = all
        .iter()
        .filter_map(|judged| Some((judged.reply.as_ref().ok()?.verdict.correct()?, judged)));
    // Compares operations per second if all tasks count them, because task sizes may differ.
    let faster = |a: &Measured, b: &Measured| match (a.gflops(), b.gflops()) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        _ => b.seconds.total_cmp(&a.seconds),
    };
    let (measured, judged) = correct.max_by(|(a, _), (b, _)| faster(a, b))?;
    let ratio = measured
        .baseline
        .as_ref()
        .zip(measured.baseline_ratio())
        .map(|(baseline, ratio)| format!(", {ratio:.2} times {}", baseline.name))
        .unwrap_or_default();
    let speed = match judged.item.task.spec.language {
        Language::C => measured
            .gflops()
            .map(|gflops| format!("{} GFLOPS", number(gflops))),
        Language::Cuda | Language::Torch => measured.rate().map(|rate| rate.to_string()),
    };
    let speed = speed.unwrap_or_else(|| format!("{} a call", seconds(measured.seconds)));
    Some(format!("Best: {speed}{ratio} ({})", judged.item.file))
}

/// How much repeated judgements of one file vary.
fn repeats(arguments: &JudgeArgs, all: &[Judged<'_>]) -> Option<String> {
    if arguments.repeat < 2 {
        return None;
    }
    let mut table = Table::new()
        .left("file")
        .right("correct")
        .right("quiet")
        .right(speed_head(all))
        .right("varies")
        .right("paper varies");
    let mut by_file: BTreeMap<(&str, &str), Vec<&Judged<'_>>> = BTreeMap::new();
    for judged in all {
        by_file
            .entry((&judged.item.task.spec.name, &judged.item.file))
            .or_default()
            .push(judged);
    }
    for ((task, file), rounds) in by_file {
        let measured: Vec<&Measured> = rounds
            .iter()
            .filter_map(|judged| judged.reply.as_ref().ok()?.verdict.measured())
            .collect();
        let gated: Vec<f64> = measured.iter().map(|measured| measured.seconds).collect();
        let paper: Vec<f64> = measured
            .iter()
            .map(|measured| measured.timing.paper_s)
            .collect();
        let is_gflops = rounds[0].item.task.spec.language == Language::C;
        let gflops = |measured: &&Measured| measured.gflops().filter(|_| is_gflops);
        let gflops: Option<Vec<f64>> = measured.iter().map(gflops).collect();
        let speed = gflops.map_or_else(
            || seconds(statistics::mean(&gated)),
            |gflops| number(statistics::mean(&gflops)),
        );
        let quiet = measured
            .iter()
            .filter(|measured| measured.timing.quiet)
            .count();
        let name = if arguments.task == "all" {
            format!("{task} {file}")
        } else {
            file.to_owned()
        };
        table.row([
            name,
            format!("{}/{}", measured.len(), rounds.len()),
            quiet.to_string(),
            speed,
            percent(statistics::variation(&gated)),
            percent(statistics::variation(&paper)),
        ]);
    }
    Some(table.render())
}

fn closing(
    arguments: &JudgeArgs,
    settings: &Settings,
    facts: &[(Language, MachineFacts)],
    items: &[Item],
    all: &[Judged<'_>],
    stopped: bool,
) -> String {
    let mut lines = Vec::new();
    if stopped {
        let total = items.len() * arguments.repeat as usize;
        lines.push(format!(
            "Stopped after {} of {}.",
            all.len(),
            count(total, "judgement")
        ));
    }
    if arguments.completions.is_some() {
        let candidates = items.iter().filter(|item| item.candidate.is_ok()).count();
        lines.push(format!(
            "{}: {candidates} with a candidate, {} of them distinct.",
            count(items.len(), "completion"),
            items::distinct(items)
        ));
    }
    lines.extend(facts.iter().map(|(_, facts)| machine(settings, facts)));
    let measured = || {
        all.iter()
            .filter_map(|judged| judged.reply.as_ref().ok()?.verdict.measured())
    };
    if measured().any(|measured| !measured.timing.quiet)
        && (arguments.completions.is_none() || arguments.verbose)
    {
        lines.push("~ the machine was never quiet for this one: trust its numbers less".to_owned());
    }
    let wants_blas = items.iter().any(|item| item.task.baseline.is_some());
    let has_blas = |(_, facts): &(Language, MachineFacts)| {
        facts.libraries.contains_key(MachineFacts::OPENBLAS)
    };
    if wants_blas && !facts.iter().any(has_blas) {
        lines.push(
            "OpenBLAS was not found, so there is no ratio; `hotloop doctor` names the package"
                .to_owned(),
        );
    }
    lines.join("\n")
}

/// What judged, and how.
fn machine(settings: &Settings, facts: &MachineFacts) -> String {
    let how = settings.how;
    let estimator = match how.timing {
        Estimator::Paper => ", paper estimator",
        Estimator::Gated => "",
    };
    match &facts.device {
        Device::Cpu { name, simd, .. } => format!(
            "{}, {}, {}, {} check{estimator}\n{name}, {simd}",
            facts.compiler,
            how.opt.flag(),
            count(how.threads as usize, "thread"),
            how.check,
        ),
        Device::Gpu {
            name,
            compute_capability,
            driver,
            clock_mhz,
            power_limit_w,
            ..
        } => {
            let clock = clock_mhz.map_or_else(String::new, |clock| format!(", {clock} MHz"));
            let power = power_limit_w.map_or_else(String::new, |power| format!(", {power} W"));
            format!(
                "{}\n{name} (compute capability {compute_capability}), driver {driver}{clock}{power}",
                facts.compiler
            )
        }
    }
}
