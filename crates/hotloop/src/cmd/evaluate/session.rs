//! One evaluation: policies answer tasks, and the bench judges the answers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

use hotloop_flow::{
    Bench, BenchError, Candidate, Job, JobId, Judgement, Pace, Policy, Stage, Task, Verdict,
};
use hotloop_run::evaluation::{Answer, Asking};
use hotloop_run::{Evaluation, Scores, plan};

use super::contestant::Contestant;
use super::keep::Keep;
use super::line::Line;
use super::timing::{self, Asked};
use crate::cli::evaluate::{EvaluateArgs, Stages};
use crate::cmd::judge::stage;
use crate::failure::Failure;
use crate::judging::Judging;
use crate::output::{complain, say_json};
use crate::progress::Progress;
use crate::stop::Stop;
use crate::{models, runs};

/// The scope of an evaluation on a fleet. If the same command is repeated in the same place, it
/// attaches to the jobs in progress. Other commands are unaffected.
pub(super) fn scope(arguments: &EvaluateArgs) -> String {
    let place = std::env::current_dir().unwrap_or_default();
    format!("evaluate in {}: {arguments:?}", place.display())
}

/// The policies and tasks of an evaluation, and the results so far.
pub(super) struct Session<'a> {
    pub(super) arguments: &'a EvaluateArgs,
    pub(super) keep: Option<Keep>,
    pub(super) stop: Stop,
    pub(super) lines: Vec<Line>,
}

/// The requested stages of a task, in order.
fn stages(asked: &Stages, task: &Task) -> Result<Vec<Stage>, Failure> {
    match asked {
        Stages::All => Ok(task.spec.stages.iter().map(|rules| rules.stage).collect()),
        Stages::These(names) => {
            let found = names.iter().map(|name| stage(task, name));
            let found: BTreeSet<Stage> = found.collect::<Result<_, _>>()?;
            Ok(found.into_iter().collect())
        }
    }
}

impl Session<'_> {
    /// Evaluates all policies on all tasks.
    pub(super) fn all(
        &mut self,
        contestants: &[Contestant],
        tasks: &[Arc<Task>],
    ) -> Result<(), Failure> {
        let prompts: usize = tasks
            .iter()
            .map(|task| Ok(stages(&self.arguments.stage, task)?.len()))
            .sum::<Result<_, Failure>>()?;
        let quiet = self.arguments.json;
        let progress = Progress::spinner("preparing the machine", !quiet);
        // Contestants differ only in their model, so the first one's bench settings hold for all.
        let Some(first) = contestants.first() else {
            return Ok(());
        };
        let bench: Box<dyn Bench> = runs::bench_for(
            &first.config,
            crate::settings::languages(tasks.iter().map(Arc::as_ref)),
            &scope(self.arguments),
        )?;
        let mut judging = Judging::over(bench, self.stop.clone());
        progress.message("judging the seeds");
        let asked: Vec<Asked> = tasks
            .iter()
            .map(|task| timing::seed(&mut judging, task))
            .collect::<Result<_, Failure>>()?;
        drop(progress);
        let answers = contestants.len() * prompts * self.arguments.count as usize;
        let progress = Progress::bar(answers, !quiet);
        for contestant in contestants {
            progress.message(format!("loading {}", contestant.name));
            let mut policy = runs::policy(&contestant.config, &self.stop)?;
            for asked in &asked {
                progress.message(format!(
                    "{} answers {}",
                    contestant.name, asked.task.spec.name
                ));
                let line = self.one(contestant, policy.as_mut(), asked, &mut judging, &progress)?;
                if self.stop.asked() {
                    return Ok(());
                }
                if quiet && !progress.aside(|| say_json(&line)) {
                    // The reader has closed the pipe, as in `| head`.
                    return Ok(());
                }
                self.lines.push(line);
            }
        }
        Ok(())
    }

    /// Evaluates one policy on one task.
    pub(super) fn one(
        &mut self,
        contestant: &Contestant,
        policy: &mut dyn Policy,
        asked: &Asked,
        judging: &mut Judging,
        progress: &Progress,
    ) -> Result<Line, Failure> {
        let config = &contestant.config;
        let wording = plan::wording(&config.prompts.wording).map_err(Failure::user)?;
        let render = runs::render(config, wording, &judging.facts_of(asked.task.spec.language));
        let task = &asked.task;
        let asking = Asking {
            config,
            render: render.as_ref(),
            task,
            seed: Some(&asked.verdict),
        };
        let mut prompts = Vec::new();
        let (mut tokens, mut sampling_seconds, mut judging_seconds) = (0, 0.0, 0.0);
        let mut distinct = BTreeSet::new();
        let mut fastest: Vec<(f64, Stage, Candidate)> = Vec::new();
        let stages = stages(&self.arguments.stage, task)?;
        for stage in &stages {
            let begin = Instant::now();
            let answers = asking
                .answers(policy, *stage, self.arguments.count)
                .map_err(|error| models::policy_failure(&error))?;
            sampling_seconds += begin.elapsed().as_secs_f64();
            tokens += answers.iter().map(|answer| answer.tokens).sum::<usize>();
            let begin = Instant::now();
            let judged = judge(judging, task, *stage, &answers, progress)?;
            judging_seconds += begin.elapsed().as_secs_f64();
            if self.stop.asked() {
                return Err(Failure::interrupted());
            }
            if let Some(keep) = &mut self.keep {
                keep.answers(&contestant.name, asked, *stage, &answers, &judged)?;
            }
            distinct.extend(
                answers
                    .iter()
                    .filter_map(|answer| Some(answer.candidate.as_ref().ok()?.normalised())),
            );
            for (answer, judgement) in answers.iter().zip(&judged) {
                let measured = judgement
                    .as_ref()
                    .and_then(|judgement| judgement.verdict.correct());
                if let (Some(measured), Ok(candidate)) = (measured, &answer.candidate) {
                    fastest.push((measured.seconds, *stage, candidate.clone()));
                }
            }
            prompts.push(judged);
        }
        let scores = Scores::of(prompts.iter().flatten(), &asked.seed);
        let evaluation = Evaluation::of(&prompts, &asked.seed);
        let (Some(scores), Some(evaluation)) = (scores, evaluation) else {
            return Err(
                Failure::machine(format!("{}: no answer could be judged", task.spec.name))
                    .hint("`hotloop doctor` says what is wrong with the machine"),
            );
        };
        let best = timing::best(judging, asked, fastest, &|why| {
            progress.aside(|| complain(why));
        });
        Ok(Line {
            policy: contestant.name.clone(),
            model: config.model.clone(),
            adapter: Some(config.adapter.clone()).filter(|adapter| !adapter.is_empty()),
            task: task.spec.name.clone(),
            temperature: config.sampling.temperature,
            count: self.arguments.count,
            stages: stages.into_iter().map(Stage::number).collect(),
            opt: config.bench.how.opt.to_string(),
            threads: config.bench.how.threads,
            seed_speed: asked.seed.speed(Pace::of_seed(&asked.seed)),
            distinct: distinct.len(),
            evaluation,
            scores,
            tokens,
            sampling_seconds,
            judging_seconds,
            best,
        })
    }
}

/// The judgements of answers, in order; `None` where the machine failed twice.
fn judge(
    judging: &mut Judging,
    task: &Arc<Task>,
    stage: Stage,
    answers: &[Answer],
    progress: &Progress,
) -> Result<Vec<Option<Judgement>>, Failure> {
    let mut judged: Vec<Option<Judgement>> = Vec::with_capacity(answers.len());
    let mut open: BTreeMap<usize, Candidate> = BTreeMap::new();
    for (at, answer) in answers.iter().enumerate() {
        judged.push(match &answer.candidate {
            Ok(candidate) => {
                open.insert(at, candidate.clone());
                None
            }
            Err(why) => {
                let verdict = Verdict::Malformed { why: why.clone() };
                progress.judged(Some(verdict.label()));
                Some(Judgement {
                    verdict,
                    seconds: hotloop_flow::bench::Seconds::default(),
                })
            }
        });
    }
    let hidden = Progress::hidden();
    for bar in [progress, &hidden] {
        let jobs = open.iter().map(|(at, candidate)| Job {
            id: JobId(*at as u64),
            task: task.clone(),
            candidate: candidate.clone(),
            stage: Some(stage),
        });
        let mut came: Vec<(usize, Judgement)> = Vec::new();
        judging.judge(
            jobs.collect(),
            bar,
            |id, reply: Result<Judgement, BenchError>| {
                if let Ok(judgement) = reply.and_then(Judgement::believable) {
                    came.push((id.0 as usize, judgement));
                }
            },
        )?;
        for (at, judgement) in came {
            open.remove(&at);
            judged[at] = Some(judgement);
        }
        if open.is_empty() || judging.stopped() {
            break;
        }
    }
    Ok(judged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::judge::load;
    use clap::Parser as _;

    #[test]
    fn stages_are_selected_by_number_or_name() {
        let task = load("matmul").expect("a shipped task");
        let asked = |names: &[&str]| {
            let names = names.iter().map(|name| (*name).to_owned()).collect();
            let found = stages(&Stages::These(names), &task);
            found.map(|found| found.into_iter().map(Stage::number).collect::<Vec<_>>())
        };
        assert!(asked(&["3", "1", "simd"]).is_ok_and(|found| found == [1, 3]));
        assert!(asked(&["7"]).is_err_and(|failure| failure.what().contains("stages are 1 to 6")));
        assert!(stages(&Stages::All, &task).is_ok_and(|found| found.len() == 6));
    }

    #[derive(clap::Parser)]
    struct Called {
        #[command(flatten)]
        arguments: EvaluateArgs,
    }

    #[test]
    fn two_evaluations_have_different_scopes_on_a_fleet() {
        let scope = |model: &str, more: &[&str]| {
            let words = ["evaluate", "--model", model, "--task", "matmul"]
                .into_iter()
                .chain(more.iter().copied());
            scope(&Called::parse_from(words).arguments)
        };
        assert_eq!(scope("nano", &[]), scope("nano", &[]));
        assert_ne!(scope("nano", &[]), scope("other", &[]));
        assert_ne!(
            scope("nano", &["--keep", "one"]),
            scope("nano", &["--keep", "two"])
        );
    }
}
