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
use crate::cmd::judge::load;
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
    let index = folder.join("answers.jsonl");
    let text = fs_err::read_to_string(&index).map_err(|error| {
        Failure::user(error.to_string())
            .hint("name a run's directory, or a folder that `hotloop evaluate --keep` wrote")
    })?;
    let mut tasks: BTreeMap<String, Arc<Task>> = BTreeMap::new();
    for (number, line) in text.lines().enumerate() {
        let kept: Kept = serde_json::from_str(line).map_err(|error| {
            let place = format!("{}, line {}: {error}", index.display(), number + 1);
            Failure::user(place).hint("`hotloop evaluate --keep` writes such files")
        })?;
        let Some(label) = kept.verdict.filter(|label| *label != Label::Malformed) else {
            continue;
        };
        let task = if let Some(task) = tasks.get(&kept.task) {
            Arc::clone(task)
        } else {
            let task = Arc::new(load(&kept.task)?);
            tasks.insert(kept.task.clone(), Arc::clone(&task));
            task
        };
        let source = fs_err::read_to_string(folder.join(&kept.file))
            .map_err(|error| Failure::user(error.to_string()))?;
        found.push(Known {
            task,
            source,
            label,
            speed: kept.speedup.filter(|_| label == Label::Correct),
        });
    }
    Ok(())
}

/// The opinions that the file has already. What a kill left of its last line goes.
fn earlier(path: &Path) -> Result<BTreeMap<String, Line>, Failure> {
    if !path.exists() {
        return Ok(BTreeMap::new());
    }
    let text = fs_err::read_to_string(path).map_err(|error| Failure::user(error.to_string()))?;
    let end = text.rfind('\n').map_or(0, |at| at + 1);
    if end < text.len() {
        fs_err::write(path, &text[..end]).map_err(|error| Failure::user(error.to_string()))?;
    }
    let mut lines = BTreeMap::new();
    for (number, line) in text[..end].lines().enumerate() {
        let line: Line = serde_json::from_str(line).map_err(|error| {
            let place = format!("{}, line {}: {error}", path.display(), number + 1);
            Failure::user(place).hint("it holds no opinions; name another file with --out")
        })?;
        lines.insert(line.key.clone(), line);
    }
    Ok(lines)
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
