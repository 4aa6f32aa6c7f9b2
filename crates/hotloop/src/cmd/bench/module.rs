//! `hotloop bench module`: verdicts on answers to problems of `KernelBench`.

mod record;
mod sitting;
mod text;
pub(in crate::cmd) mod worth;

use hotloop_bench::torch::Judging;
use hotloop_flow::ErrorKind;
use hotloop_flow::fast::Scores;
use hotloop_flow::statistics::mean;
use serde_json::json;

use super::problems;
use crate::cli::module::ModuleArgs;
use crate::failure::{Failure, Status};
use crate::output::{say, say_json};
use crate::progress::Progress;
use record::{Circumstances, Record};
pub(in crate::cmd) use sitting::{Came, Failed, Sitting};
use text::Line;

pub(super) fn run(arguments: &ModuleArgs) -> Result<Status, Failure> {
    let problems = problems::named(&arguments.problem, arguments.kernelbench.as_deref())?;
    let answers = problems::matched(&problems, &arguments.answers)?;
    let how = Judging {
        with_compiled: !arguments.no_compile,
        limit_s: arguments.limit,
        runs: arguments.runs,
    };
    worth::check(arguments.reward)?;
    let mut sitting = {
        let _progress = Progress::spinner("preparing the machine", !arguments.json);
        Sitting::open(how, arguments.python.as_deref(), arguments.out.as_deref())?
    };
    let progress = Progress::answers(answers.len(), !arguments.json);
    let mut made = Vec::new();
    let ended = answers.iter().try_for_each(|(problem, path)| {
        let answer = problems::answer(path)?;
        let known = sitting.known(problem, path, &answer).cloned();
        let came = if let Some(known) = known {
            Ok(known)
        } else {
            let came = sitting.judge(problem, path, &answer)?;
            came.iter().try_for_each(|record| sitting.keep(record))?;
            came
        };
        let reward = arguments.reward.zip(came.as_ref().ok());
        let line = Line {
            answer: path.display().to_string(),
            reward: reward.and_then(|(shape, record)| worth::earned(shape, record)),
            came,
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
    show(&made, &sitting.circumstances, arguments);
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

fn tell(line: &Line) -> bool {
    match &line.came {
        Ok(record) => {
            let mut told = json!(record);
            if let Some(reward) = line.reward {
                told["reward"] = json!(reward);
            }
            say_json(&told)
        }
        Err(failed) => {
            say_json(&json!({"answer": line.answer, "verdict": null, "failed": failed.why}))
        }
    }
}

fn show(made: &[Line], circumstances: &Circumstances, arguments: &ModuleArgs) {
    if made.is_empty() {
        return;
    }
    // Answers without a verdict say nothing about answers.
    let records = made.iter().filter_map(|line| line.came.as_ref().ok());
    let judged: Vec<_> = records.map(Record::scored).collect();
    let scores = Scores::of(&judged);
    let rewards: Vec<f64> = made.iter().filter_map(|line| line.reward).collect();
    let mean = (!rewards.is_empty()).then(|| mean(&rewards));
    if arguments.json {
        let mut told = json!({"scores": scores});
        if let Some(reward) = arguments.reward {
            told["reward"] = json!({"shape": reward, "mean": mean});
        }
        say_json(&told);
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
    if let (Some(reward), Some(mean)) = (arguments.reward, mean) {
        say(&format!("Mean reward by `{}`: {mean:.3}.", reward.name()));
    }
}
