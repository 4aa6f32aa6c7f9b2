//! `hotloop review`: a reviewer's opinions on candidates whose verdicts are known.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use hotloop_flow::policy::Chat;
use hotloop_flow::random::Random;
use hotloop_flow::{Label, PolicyError, Task};
use hotloop_run::review::{self, Agreement, Axis, INJECTION, Opinion, Reviewed, WORDING};
use hotloop_run::{RunState, store};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::cli::review::ReviewArgs;
use crate::cmd::evaluate::kept;
use crate::cmd::{report, sample, train};
use crate::failure::{Failure, Status};
use crate::models;
use crate::output::table::Table;
use crate::output::{percent, say, say_json};
use crate::progress::Progress;
use crate::stop::Stop;

/// A candidate whose verdict is known.
struct Known {
    task: Arc<Task>,
    source: String,
    label: Label,
    speed: Option<f64>,
}

/// A line of the file of opinions.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Line {
    /// What was asked: task, candidate and wording, hashed.
    key: String,
    task: String,
    verdict: Label,
    injected: bool,
    opinion: Option<Opinion>,
    /// Why there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

pub(crate) fn run(arguments: &ReviewArgs) -> Result<Status, Failure> {
    let mut known = known(&arguments.folder)?;
    Random::new(arguments.seed).shuffle(&mut known);
    known.truncate(arguments.count.unwrap_or(usize::MAX));
    if known.is_empty() {
        return Err(
            Failure::user("there is no candidate with a verdict to review")
                .hint("name run directories, or folders that `hotloop evaluate --keep` wrote"),
        );
    }
    let mut lines = earlier(&arguments.out)?;
    let wanted: Vec<(&Known, bool)> = known
        .iter()
        .flat_map(|one| [false, true].map(|injected| (one, injected)))
        .filter(|(_, injected)| !injected || arguments.inject)
        .collect();
    let missing: Vec<(String, &Known, bool)> = wanted
        .iter()
        .map(|(one, injected)| (key(one, *injected), *one, *injected))
        .filter(|(key, ..)| !lines.contains_key(key))
        .collect();
    let stop = Stop::listen()?;
    if !missing.is_empty() {
        ask(arguments, &missing, &stop, &mut lines)?;
    }
    if stop.asked() {
        return Ok(Status::Interrupted);
    }
    tell(arguments, &known, &lines);
    Ok(Status::Fine)
}

/// What the reviewer is shown.
fn shown(one: &Known, injected: bool) -> String {
    if injected {
        format!("{INJECTION}{}", one.source)
    } else {
        one.source.clone()
    }
}

fn key(one: &Known, injected: bool) -> String {
    let text = format!("{WORDING}\n{}\n{}", one.task.hash, shown(one, injected));
    blake3::hash(text.as_bytes()).to_hex()[..32].to_owned()
}

/// The candidates of all folders, each task's programs once.
fn known(folders: &[std::path::PathBuf]) -> Result<Vec<Known>, Failure> {
    let mut found = Vec::new();
    for folder in folders {
        if folder.join("run.toml").exists() {
            of_run(folder, &mut found)?;
        } else {
            of_evaluation(folder, &mut found)?;
        }
    }
    let mut seen = BTreeSet::new();
    found.retain(|one| seen.insert((one.task.hash.clone(), one.source.clone())));
    Ok(found)
}

fn of_run(folder: &Path, found: &mut Vec<Known>) -> Result<(), Failure> {
    let plan = train::begun(folder, &["adapter=".to_owned()])?;
    let state = RunState::read(folder).map_err(|error| report::unreadable(&error.into()))?;
    for step in &state.steps {
        for group in step.groups.iter().chain(&step.practised) {
            let name = group.asked.task.as_deref();
            let task = plan.tasks().find(|(known, _)| *known == name);
            let Some((_, task)) = task else { continue };
            for member in &group.members {
                if let (Some(hash), Some(verdict)) = (&member.hash, &member.verdict) {
                    found.push(Known {
                        task: Arc::clone(task),
                        source: store::source(folder, hash)
                            .map_err(|error| report::unreadable(&error))?,
                        label: verdict.label(),
                        speed: member.speed,
                    });
                }
            }
        }
    }
    Ok(())
}

/// The keys used from a line of `answers.jsonl`.
#[derive(Deserialize)]
struct Kept {
    task: String,
    verdict: Option<Label>,
    speedup: Option<f64>,
    file: String,
}

fn of_evaluation(folder: &Path, found: &mut Vec<Known>) -> Result<(), Failure> {
    let mut tasks: BTreeMap<String, Arc<Task>> = BTreeMap::new();
    for kept in kept::read::<Kept>(folder)? {
        let Some(label) = kept.verdict.filter(|label| *label != Label::Malformed) else {
            continue;
        };
        let task = if let Some(task) = tasks.get(&kept.task) {
            Arc::clone(task)
        } else {
            let task = Arc::new(kept::task(folder, &kept.task)?);
            tasks.insert(kept.task.clone(), Arc::clone(&task));
            task
        };
        let source = kept::source(folder, &kept.file)?;
        found.push(Known {
            task,
            source,
            label,
            speed: kept.speedup.filter(|_| label == Label::Correct),
        });
    }
    Ok(())
}

/// How each line of the file begins.
const BEGINNING: &[u8] = b"{\"key\":\"";

/// The opinions in the file. A last line that a kill cut off is removed, but only from a file of
/// opinions.
fn earlier(path: &Path) -> Result<BTreeMap<String, Line>, Failure> {
    if !path.exists() {
        return Ok(BTreeMap::new());
    }
    let unreadable = |error: std::io::Error| Failure::user(error.to_string());
    let foreign = |number: usize, why: &str| {
        let place = format!("{}, line {}: {why}", path.display(), number + 1);
        Failure::user(place).hint("it holds no opinions; name another file with --out")
    };
    let bytes = fs_err::read(path).map_err(unreadable)?;
    let end = bytes
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    let (whole, torn) = bytes.split_at(end);
    let mut lines = BTreeMap::new();
    let mut count = 0;
    for (number, line) in whole.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let line: Line =
            serde_json::from_slice(line).map_err(|error| foreign(number, &error.to_string()))?;
        lines.insert(line.key.clone(), line);
        count += 1;
    }
    if !torn.is_empty() {
        if !is_torn(torn) {
            return Err(foreign(
                count,
                "it does not end, and is not the beginning of an opinion",
            ));
        }
        let file = fs_err::OpenOptions::new().write(true).open(path);
        file.and_then(|file| file.set_len(end as u64))
            .map_err(unreadable)?;
    }
    Ok(lines)
}

/// Whether a kill can have left this of a line.
fn is_torn(rest: &[u8]) -> bool {
    match serde_json::from_slice::<Line>(rest) {
        Ok(_) => true,
        Err(error) => {
            error.is_eof() && (rest.starts_with(BEGINNING) || BEGINNING.starts_with(rest))
        }
    }
}

fn ask(
    arguments: &ReviewArgs,
    missing: &[(String, &Known, bool)],
    stop: &Stop,
    lines: &mut BTreeMap<String, Line>,
) -> Result<(), Failure> {
    let mut policy = sample::open(&arguments.who, !arguments.json, stop)?;
    let mut file = fs_err::OpenOptions::new()
        .create(true)
        .append(true)
        .open(&arguments.out)
        .map_err(|error| Failure::user(error.to_string()).hint("name another file with --out"))?;
    let chats: Vec<Chat> = missing
        .iter()
        .map(|(_, one, injected)| review::chat(&one.task, &shown(one, *injected)))
        .collect();
    let progress = Progress::answers(chats.len(), !arguments.json);
    let drawn = (arguments.max_tokens, arguments.seed);
    let asked = review::ask(policy.as_mut(), &chats, drawn, |at, opinion| {
        let (key, one, injected) = &missing[at];
        let (opinion, why) = match opinion {
            Ok(opinion) => (Some(opinion), None),
            Err(why) => (None, Some(why)),
        };
        let line = Line {
            key: key.clone(),
            task: one.task.spec.name.clone(),
            verdict: one.label,
            injected: *injected,
            opinion,
            why,
        };
        let text = serde_json::to_string(&line).expect("it has a JSON form");
        writeln!(file, "{text}").map_err(|error| PolicyError::File {
            what: error.to_string(),
            kind: error.kind(),
        })?;
        lines.insert(line.key.clone(), line);
        progress.answered(1);
        if stop.asked() {
            return Err(PolicyError::Stopped);
        }
        Ok(())
    });
    match asked {
        Err(_) if stop.asked() => Ok(()),
        asked => asked.map_err(|error| models::policy_failure(&error)),
    }
}

fn tell(arguments: &ReviewArgs, known: &[Known], lines: &BTreeMap<String, Line>) {
    let opinion = |one: &Known, injected| lines.get(&key(one, injected))?.opinion.as_ref();
    let of = |injected: bool| {
        Agreement::of(
            known
                .iter()
                .filter(|&one| lines.contains_key(&key(one, injected)))
                .map(|one| Reviewed::labelled(opinion(one, injected), one.label, one.speed)),
        )
    };
    let (plain, injected) = (of(false), of(true).filter(|_| arguments.inject));
    // Only candidates with both opinions tell what the comment does.
    let both: Vec<(f64, f64)> = known
        .iter()
        .filter_map(|one| Some((opinion(one, false)?.mean(), opinion(one, true)?.mean())))
        .collect();
    let mean = |of: &dyn Fn(&(f64, f64)) -> f64| {
        both.iter().map(of).sum::<f64>() / both.len().max(1) as f64
    };
    let shift = (arguments.inject && !both.is_empty()).then(|| {
        json!({
            "candidates": both.len(), "before": mean(&|pair| pair.0), "after": mean(&|pair| pair.1),
            "raised": both.iter().filter(|(before, after)| after > before).count(),
        })
    });
    if arguments.json {
        say_json(&json!({ "plain": plain, "injected": injected, "injection": shift }));
        return;
    }
    let mut text = String::new();
    for (title, agreement) in [
        ("", plain),
        ("with the comment that asks for praise:\n", injected),
    ] {
        if let Some(agreement) = agreement {
            text.push_str(title);
            text.push_str(&table(&agreement));
        }
    }
    if let Some(shift) = shift {
        let moved = format!(
            "the comment moves the mean opinion from {:.3} to {:.3}, and raises {} of {}\n",
            shift["before"].as_f64().unwrap_or(0.0),
            shift["after"].as_f64().unwrap_or(0.0),
            shift["raised"],
            shift["candidates"]
        );
        text.push_str(&moved);
    }
    say(text.trim_end());
}

fn table(agreement: &Agreement) -> String {
    let mut table = Table::new()
        .left("question")
        .right("candidates")
        .right("yes")
        .right("opinion")
        .right("agreed")
        .right("constant answer")
        .right("AUC")
        .right("Brier");
    let questions: [(&str, &Axis); 2] = [
        ("is it correct?", &agreement.correctness),
        ("does it compile?", &agreement.compilability),
    ];
    for (question, axis) in questions {
        table.row([
            question.to_owned(),
            axis.of.to_string(),
            percent(axis.truth),
            format!("{:.2}", axis.opinion),
            percent(axis.agreed),
            percent(axis.constant),
            axis.auc.map_or("-".to_owned(), |auc| format!("{auc:.2}")),
            format!("{:.3}", axis.brier),
        ]);
    }
    let mut bins = Table::new()
        .left("opinion on correctness")
        .right("candidates")
        .right("mean opinion")
        .right("correct")
        .right("95 % interval");
    for bin in &agreement.correctness.bins {
        bins.row([
            format!("{:.1} to {:.1}", bin.low, bin.high),
            bin.count.to_string(),
            format!("{:.2}", bin.opinion),
            percent(bin.truth),
            format!("{} to {}", percent(bin.truth_low), percent(bin.truth_high)),
        ]);
    }
    let speed = agreement.speed.map_or(String::new(), |rank| {
        format!(
            "rank correlation of opinions on speed and the speeds of {} correct candidates: {rank:.2}\n",
            agreement.timed
        )
    });
    format!(
        "{}\n{}\n{speed}{} of {} opinions could not be read\n",
        table.render(),
        bins.render(),
        agreement.broken,
        agreement.asked
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is read from a file, and what is left of it.
    fn read(text: &[u8]) -> (Result<usize, String>, Vec<u8>) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("opinions.jsonl");
        std::fs::write(&path, text).expect("written");
        let read = earlier(&path)
            .map(|lines| lines.len())
            .map_err(|failure| failure.what().to_owned());
        (read, std::fs::read(&path).expect("it is still there"))
    }

    #[test]
    fn only_a_file_of_opinions_loses_a_torn_line() {
        let line = |key: &str| {
            let line = Line {
                key: key.to_owned(),
                task: "matmul".to_owned(),
                verdict: Label::Wrong,
                injected: false,
                opinion: None,
                why: Some("ä".to_owned()),
            };
            serde_json::to_string(&line).expect("it has a JSON form")
        };
        let (first, second) = (format!("{}\n", line("a")), line("b"));
        for cut in 0..=second.len() {
            let text = [first.as_bytes(), &second.as_bytes()[..cut]].concat();
            assert_eq!(read(&text), (Ok(1), first.clone().into_bytes()), "{cut}");
        }
        let foreign: [&[u8]; 6] = [
            b"years of work",
            b"years\nof work",
            b"{\"key\": 3}",
            b"{\"key\":\"a\"}",
            b"{\"other\":\"a",
            b"\xff\xfe",
        ];
        for text in foreign {
            let (read, left) = read(text);
            let why = read.expect_err("it is no file of opinions");
            assert!(why.contains("opinions.jsonl, line 1"), "{why}");
            assert_eq!(left, text);
        }
        let (read, left) = read([first.as_bytes(), b"notes"].concat().as_slice());
        assert!(read.is_err_and(|why| why.contains("line 2")));
        assert!(left.ends_with(b"notes"));
    }
}
