//! `hotloop bench module`: verdicts on answers to problems of `KernelBench`.

mod record;
mod text;

use hotloop_bench::torch::{Facts, Judge, Judging};
use hotloop_flow::fast::Scores;
use hotloop_flow::{Device, ErrorKind};
use serde_json::json;

use super::{lines, problems};
use crate::cli::module::ModuleArgs;
use crate::failure::{Failure, Status};
use crate::output::{say, say_json};
use crate::progress::Progress;
use record::{Circumstances, Record};
use text::{Failed, Line};

pub(super) fn run(arguments: &ModuleArgs) -> Result<Status, Failure> {
    let problems = problems::named(&arguments.problem, arguments.kernelbench.as_deref())?;
    let answers = problems::matched(&problems, &arguments.answers)?;
    let (known, mut out) = match &arguments.out {
        Some(path) => {
            let (known, file) = lines::open::<Record>(path)?;
            (known, Some((file, path.as_path())))
        }
        None => (Vec::new(), None),
    };
    let how = Judging {
        with_compiled: !arguments.no_compile,
        limit_s: arguments.limit,
    };
    let mut judge = {
        let _progress = Progress::spinner("preparing the machine", !arguments.json);
        Judge::open(&crate::settings::own()?, arguments.python.as_deref(), how)?
    };
    let circumstances = Circumstances {
        with_compiled: how.with_compiled,
        limit_s: how.limit_s,
        gpu: judge.device().map(named),
        torch: judge.torch().map(str::to_owned),
    };
    let progress = Progress::answers(answers.len(), !arguments.json);
    let mut made = Vec::new();
    let mut read: Option<(&str, Read)> = None;
    let ended = answers.iter().try_for_each(|(problem, path)| {
        let answer = problems::answer(path)?;
        let asked = circumstances.asked(problem, path, &answer);
        let line = if let Some(known) = known.iter().find(|known| known.asked == asked) {
            Line {
                answer: asked.answer,
                came: Ok(known.clone()),
            }
        } else {
            if read.as_ref().is_none_or(|(name, _)| *name != problem.name) {
                read = Some((&problem.name, judge.problem(&problem.source)?));
            }
            let facts = read.as_ref().map(|(_, facts)| facts);
            let line = judged(&mut judge, (problem, facts), &answer, asked)?;
            if let (Some((file, path)), Ok(record)) = (&mut out, &line.came) {
                lines::write(file, path, record)?;
            }
            line
        };
        progress.answered(1);
        if arguments.json {
            progress.aside(|| tell(&line));
        }
        made.push(line);
        Ok::<(), Failure>(())
    });
    drop(progress);
    // A failure does not take back what was judged before it.
    show(&made, &circumstances, arguments.json);
    ended?;
    let failed = |line: &Line| line.came.as_ref().err().map(|failed| failed.kind);
    let kinds: Vec<ErrorKind> = made.iter().filter_map(failed).collect();
    Ok(if kinds.contains(&ErrorKind::Machine) {
        Status::MachineFailed
    } else if kinds.is_empty() {
        Status::Fine
    } else {
        Status::UserError
    })
}

/// The facts of a problem, or why it cannot be read.
type Read = Result<Facts, String>;

/// Judges an answer. A failure is this answer's alone: others may get verdicts.
fn judged(
    judge: &mut Judge,
    (problem, facts): (&problems::Named, Option<&Read>),
    answer: &str,
    asked: record::Asked,
) -> Result<Line, Failure> {
    let failed = |kind, why| Failed { kind, why };
    let came = match facts {
        Some(Ok(facts)) => judge
            .judge(&problem.source, facts, answer)
            .map_err(|error| failed(error.kind, error.what)),
        Some(Err(why)) => {
            let why = format!("{}: the problem cannot be read: {why}", problem.name);
            Err(failed(ErrorKind::User, why))
        }
        None => return Err(Failure::user(format!("{}: not read", problem.name))),
    };
    Ok(Line {
        answer: asked.answer.clone(),
        came: came.map(|judged| Record::of(asked, &judged)),
    })
}

fn tell(line: &Line) -> bool {
    match &line.came {
        Ok(record) => say_json(record),
        Err(failed) => {
            say_json(&json!({"answer": line.answer, "verdict": null, "failed": failed.why}))
        }
    }
}

fn show(made: &[Line], circumstances: &Circumstances, is_json: bool) {
    if made.is_empty() {
        return;
    }
    // Answers without a verdict say nothing about answers.
    let records = made.iter().filter_map(|line| line.came.as_ref().ok());
    let judged: Vec<_> = records.map(Record::scored).collect();
    let scores = Scores::of(&judged);
    if is_json {
        say_json(&json!({"scores": scores}));
        return;
    }
    let gpu = circumstances.gpu.as_deref().unwrap_or("no GPU");
    let torch = circumstances.torch.as_deref().unwrap_or("none");
    let without = made.len() - scores.answers;
    say(&format!(
        "{}\n\n{}\n{gpu}, torch {torch}, TF32 off.",
        text::table(made),
        text::summary(&scores, without),
    ));
}

fn named(device: &Device) -> String {
    match device {
        Device::Gpu { name, .. } | Device::Cpu { name, .. } => name.clone(),
    }
}
