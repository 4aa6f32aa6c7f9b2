//! `hotloop evaluate --suite` with problems of `KernelBench`: many policies, one judge, one table.

mod answers;
mod chosen;
mod fate;
mod file;
mod grid;
mod judging;
mod page;
mod sheet;
mod writing;

use std::path::Path;

use hotloop_bench::torch::Judging;
use hotloop_flow::ErrorKind;

use crate::cli::evaluate::EvaluateArgs;
use crate::cmd::bench::module::Sitting;
use crate::cmd::bench::problems::Named;
use crate::cmd::evaluate::suite::cell::write;
use crate::cmd::task::kernelbench;
use crate::failure::{Failure, Status};
use crate::output::{say, say_json};
use crate::progress::Progress;
use crate::stop::Stop;
use answers::{Answer, Answers};
use file::SweepFile;
use sheet::{Asked, Sheet};

pub(super) use file::is_one;

/// Sweeps over the suite in `file` into the folder `out`.
pub(super) fn run(given: &EvaluateArgs, file: &Path, out: &Path) -> Result<Status, Failure> {
    if !given.set.is_empty() || given.max_tokens.is_some() {
        return Err(
            Failure::user("--set and --max-tokens do not go with a suite of problems")
                .hint("write the keys into the suite"),
        );
    }
    let suite = SweepFile::read(file)?;
    let checkout = kernelbench::checkout(&suite.checkout(given.kernelbench.as_deref())?)?;
    let problems = chosen::chosen(&suite.problems, &checkout)?;
    suite.policy.iter().try_for_each(file::PolicyEntry::find)?;
    fs_err::create_dir_all(out)
        .map_err(|error| Failure::user(error.to_string()).hint("name another folder with --out"))?;
    let mut answers = Answers::open(&out.join("answers.jsonl"))?;
    let of = |entry| writing::keys(entry, &suite, &problems);
    let keys: Vec<Vec<Vec<String>>> = suite.policy.iter().map(of).collect();
    let stop = Stop::listen()?;
    let all = keys.iter().flatten().map(Vec::len).sum();
    {
        let progress = Progress::answers(all, !given.json);
        writing::all(&suite, &problems, &keys, &mut answers, &stop, &progress)?;
    }
    let known = |key: &String| answers.get(key);
    let asked: Vec<&Answer> = keys.iter().flatten().flatten().filter_map(known).collect();
    let (mut sheet, ended) = judged(given, (&suite, &problems), &asked, out, &stop)?;
    sheet.title = suite.title(file);
    finish(&sheet, out, given.json)?;
    if stop.asked() {
        return Ok(Status::Interrupted);
    }
    ended.map(|()| status(&sheet))
}

/// Judges the answers. A failure does not take back what was judged before it.
fn judged(
    given: &EvaluateArgs,
    (suite, problems): (&SweepFile, &[Named]),
    answers: &[&Answer],
    out: &Path,
    stop: &Stop,
) -> Result<(Sheet, Result<(), Failure>), Failure> {
    let how = Judging {
        with_compiled: suite.compile,
        limit_s: suite.limit,
        runs: suite.runs,
    };
    let mut sitting = {
        let _progress = Progress::spinner("preparing the machine", !given.json);
        let kept = out.join("verdicts.jsonl");
        Sitting::open(how, given.python.as_deref(), Some(&kept))?
    };
    let progress = Progress::bar(answers.len(), !given.json);
    sitting.reward = suite.reward;
    let (fates, ended) = judging::all(&mut sitting, problems, answers, stop, &progress);
    drop(progress);
    let policies: Vec<String> = suite
        .policy
        .iter()
        .map(|entry| entry.name.clone())
        .collect();
    let problems: Vec<String> = problems
        .iter()
        .map(|problem| problem.name.clone())
        .collect();
    let sheet = Sheet {
        title: String::new(),
        asked: Asked {
            count: suite.count,
            temperature: suite.temperature,
            max_tokens: suite.max_tokens,
            seed: suite.seed,
            limit_s: suite.limit,
            runs: suite.runs,
            reward: suite.reward,
        },
        gpu: sitting.circumstances.gpu.clone(),
        torch: sitting.circumstances.torch.clone(),
        rows: sheet::rows(&policies, &problems, &fates),
        policies,
        problems,
        answers: fates,
    };
    Ok((sheet, ended))
}

/// Writes the tables to the folder, and says the table or its JSON.
fn finish(sheet: &Sheet, out: &Path, is_json: bool) -> Result<(), Failure> {
    let json = serde_json::to_string_pretty(sheet).expect("it has a JSON form");
    for (name, text) in [
        ("table.md", grid::markdown(sheet)),
        ("table.csv", grid::csv(sheet)),
        ("table.json", json),
        ("table.html", page::page(sheet)),
    ] {
        write(&out.join(name), &text)?;
    }
    if is_json {
        say_json(sheet);
        return Ok(());
    }
    say(&format!(
        "{}\n\n{}\n\n{}\n\n{}\n{}",
        grid::problems(sheet).terminal(),
        grid::verdicts(sheet).terminal(),
        grid::policies(sheet).terminal(),
        grid::FOOT,
        grid::circumstances(sheet)
    ));
    if let Some(why) = unjudged(sheet) {
        say(&why);
    }
    say(&format!("The page: {}", out.join("table.html").display()));
    Ok(())
}

/// How many answers have no verdict, and why the first has none.
fn unjudged(sheet: &Sheet) -> Option<String> {
    let without: Vec<_> = sheet
        .answers
        .iter()
        .filter(|fate| fate.verdict.is_none())
        .collect();
    let first = without.first()?;
    let whose = match first.failed {
        Some(ErrorKind::Machine) => "the machine failed: ",
        Some(ErrorKind::User) | None => "",
    };
    Some(format!(
        "{} without a verdict. {} of {}: {whose}{}",
        hotloop_flow::count(without.len(), "answer"),
        first.task,
        first.policy,
        first.why.as_deref().unwrap_or_default()
    ))
}

fn status(sheet: &Sheet) -> Status {
    let failed = |kind| sheet.answers.iter().any(|fate| fate.failed == Some(kind));
    if failed(ErrorKind::Machine) {
        Status::MachineFailed
    } else if failed(ErrorKind::User) {
        Status::UserError
    } else {
        Status::Fine
    }
}
