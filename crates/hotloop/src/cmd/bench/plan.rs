//! `hotloop bench plan`: what answers to problems of `KernelBench` would do on a GPU, without one.

mod shapes;
mod text;

use std::collections::BTreeMap;

use hotloop_bench::torch::{Answer, Compiled, Facts, ModulePlan, Outcome, Planner};
use serde::Serialize;

use crate::cli::plan::PlanArgs;
use crate::failure::{Failure, Status};
use crate::output::table::Table;
use crate::output::{count, say, say_json};
use crate::progress::Progress;
use text::{NO_JUDGEMENT, Planned};

use super::problems;

pub(super) fn run(arguments: &PlanArgs) -> Result<Status, Failure> {
    let problems = problems::named(&arguments.task, arguments.kernelbench.as_deref())?;
    let planner = {
        let _progress = Progress::spinner("preparing the machine", !arguments.json);
        Planner::open(&crate::settings::own()?)?
    };
    if arguments.answers.is_empty() {
        return shapes::show(&planner, &problems, arguments.json);
    }
    let [problem] = problems.as_slice() else {
        return Err(
            Failure::user("answers are for one problem").hint("name one, as in kernelbench/1/19")
        );
    };
    let facts = planner.problem(&problem.source)?.map_err(|why| {
        Failure::user(format!(
            "{}: the problem cannot be read: {why}",
            problem.name
        ))
    })?;
    let progress = Progress::answers(arguments.answers.len(), !arguments.json);
    let mut made = Vec::new();
    let ended = arguments.answers.iter().try_for_each(|path| {
        let answer = problems::answer(path)?;
        let begin = std::time::Instant::now();
        let answer = Answer::named(path, &answer);
        let outcome = planner.plan(&problem.source, &facts, answer)?;
        progress.answered(1);
        let one = Planned {
            name: path.display().to_string(),
            outcome,
            seconds: begin.elapsed().as_secs_f64(),
        };
        if arguments.json {
            say_json(&Said::of(&problem.name, &one));
        } else {
            made.push(one);
        }
        Ok::<(), Failure>(())
    });
    drop(progress);
    // A failure of the machine does not take back what was planned before it.
    match made.as_slice() {
        [] => {}
        [one] if arguments.answers.len() == 1 => {
            say(&text::of_one(&problem.name, &facts, one));
        }
        some => {
            say(&summary(&problem.name, &facts, some, &planner.compiler()));
        }
    }
    ended.map(|()| Status::Fine)
}

/// What is said of an answer in JSON. The plan is lent, because it may be very large.
#[derive(Serialize)]
struct Said<'a> {
    task: &'a str,
    answer: &'a str,
    seconds: f64,
    judged: bool,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<&'a ModulePlan>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

impl<'a> Said<'a> {
    fn of(problem: &'a str, planned: &'a Planned) -> Self {
        let (verdict, plan, why) = match &planned.outcome {
            Outcome::Planned(plan) => ("planned", Some(plan.as_ref()), None),
            Outcome::Failed(verdict) => (verdict.label().name(), None, Some(verdict.detail())),
        };
        Self {
            task: problem,
            answer: &planned.name,
            seconds: planned.seconds,
            judged: false,
            verdict,
            plan,
            why,
        }
    }
}

/// A table of many answers, and how many of them have plans.
fn summary(problem: &str, facts: &Facts, all: &[Planned], compiler: &Compiled) -> String {
    let mut table = Table::new().left("answer").left("verdict").left("what");
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    for Planned { name, outcome, .. } in all {
        let (verdict, what) = match outcome {
            Outcome::Planned(plan) => ("planned", count(plan.launches(), "launch")),
            Outcome::Failed(verdict) => {
                let detail = verdict.detail();
                let first = detail.lines().next().unwrap_or_default().to_owned();
                let label = verdict.label().name();
                *reasons.entry(format!("{label}: {first}")).or_default() += 1;
                (label, first)
            }
        };
        table.row([name.as_str(), verdict, &what]);
    }
    let failed: usize = reasons.values().sum();
    let mut reasons: Vec<(String, usize)> = reasons.into_iter().collect();
    reasons.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let mut why = Table::new().right("answers").left("why not");
    for (reason, times) in &reasons {
        why.row([times.to_string(), reason.clone()]);
    }
    let why = if reasons.is_empty() {
        String::new()
    } else {
        format!("\n\n{}", why.render())
    };
    format!(
        "{problem}: {}\n\n{}{why}\n\n{} of {} planned; {}.\n{NO_JUDGEMENT}",
        text::of_problem(facts),
        table.render(),
        all.len() - failed,
        count(all.len(), "answer"),
        text::of_compiler(compiler),
    )
}
