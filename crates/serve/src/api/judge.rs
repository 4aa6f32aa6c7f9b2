//! `POST /v1/judge`: a batch of candidates in, verdicts and rewards out.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use hotloop_flow::Language;
use hotloop_flow::bench::Seconds;
use hotloop_flow::{Baseline, Label, MachineFacts, Measured, Reward, Stage, Timing, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::app::App;
use crate::asked::{self, Submission, Text, What};
use crate::board::Outcome;
use crate::body::{Body, Received};
use crate::fault::Fault;
use crate::judging::{Judging, Work};
use crate::keys;
use crate::searches::JudgedAnswer;
use crate::worth::{self, Earned};

/// What may be asked.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asked {
    /// The task of candidates that name none.
    #[serde(default)]
    task: Option<String>,
    #[serde(default, deserialize_with = "asked::stage")]
    stage: Option<Stage>,
    #[serde(default, deserialize_with = "asked::reward")]
    reward: Option<Reward>,
    /// Seconds to wait at most.
    #[serde(default)]
    wait_s: Option<f64>,
    /// Judge apart from everything judged before; needs ids.
    #[serde(default)]
    fresh: bool,
    candidates: Vec<AskedCandidate>,
}

impl Body for Asked {
    fn unknown_key(body: &Value) -> Option<Fault> {
        let in_candidate = || {
            let candidates = body["candidates"].as_array()?;
            candidates
                .iter()
                .find_map(|one| keys::unknown(one, keys::of::<AskedCandidate>()))
        };
        keys::unknown(body, keys::of::<Self>()).or_else(in_candidate)
    }
}

impl Asked {
    /// One submission for each candidate, in their order.
    fn submissions(self) -> Result<Vec<Submission>, Fault> {
        let one = |candidate: AskedCandidate| {
            let text = match (candidate.completion, candidate.source) {
                (Some(text), None) => Text::Completion(text),
                (None, Some(text)) => Text::Source(text),
                _ => {
                    return Err(Fault::bad(
                        "a candidate needs either `completion` or `source`",
                    ));
                }
            };
            if self.fresh && candidate.id.is_none() {
                return Err(Fault::bad(
                    "`fresh` needs an `id` for each candidate, so that a repeated request is not judged twice",
                ));
            }
            let what = What {
                task: candidate.task.or_else(|| self.task.clone()),
                stage: candidate.stage.or(self.stage),
                prompt_id: candidate.prompt_id,
                reward: self.reward,
                group: candidate.group,
            };
            let apart = candidate.id.filter(|_| self.fresh);
            Ok(Submission { what, text, apart })
        };
        self.candidates.into_iter().map(one).collect()
    }
}

/// One candidate of a batch.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AskedCandidate {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    completion: Option<String>,
    #[serde(default)]
    source: Option<String>,
    #[serde(default)]
    task: Option<String>,
    #[serde(default, deserialize_with = "asked::stage")]
    stage: Option<Stage>,
    #[serde(default)]
    prompt_id: Option<String>,
    #[serde(default)]
    group: Option<String>,
}

/// What is answered.
#[derive(Debug, Serialize)]
pub(crate) struct Answered {
    /// The reward that decided where a candidate's own prompt names no other.
    reward: Reward,
    /// In the order of the candidates.
    judged: Vec<Judged>,
    machine: MachineFacts,
    version: &'static str,
}

/// What became of one candidate.
#[derive(Debug, Serialize)]
pub(crate) struct Judged {
    id: Option<String>,
    task: String,
    stage: Option<Stage>,
    status: Status,
    verdict: Option<Label>,
    /// `null` when the verdict is masked or the machine failed.
    reward: Option<f64>,
    /// How much of the reward is timing noise.
    noise: Option<f64>,
    reward_shape: &'static str,
    detail: String,
    language: Language,
    seconds_per_call: Option<f64>,
    gflops: Option<f64>,
    gflops_paper: Option<f64>,
    peak_fraction: Option<f64>,
    openblas_ratio: Option<f64>,
    baseline: Option<Baseline>,
    timing: Option<Timing>,
    seconds: Option<Seconds>,
    hash: Option<String>,
    notes: Vec<String>,
    error: Option<String>,
}

/// Whether there is a verdict, and whether it counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Status {
    /// There is a verdict, and it has a reward.
    Judged,
    /// There is a verdict, and it is neither rewarded nor punished.
    Masked,
    /// The machine failed: neither rewarded nor punished either.
    MachineFailure,
}

/// Judges a batch.
pub(crate) async fn judge(
    State(app): State<Arc<App>>,
    asked: Received<Asked>,
) -> Result<Json<Answered>, Fault> {
    let asked_all = asked.value;
    let most = app.limits.candidates;
    let judging = &app.judging;
    if asked_all.candidates.len() > most {
        return Err(Fault::bad(format!(
            "{} candidates at once; the most is {most}",
            asked_all.candidates.len()
        )));
    }
    asked::sound(asked_all.reward)?;
    let deadline = judging.deadline(asked_all.wait_s);
    if let Some(task) = &asked_all.task {
        judging.check_stage(task, asked_all.stage)?;
    }
    let reward = asked_all.reward;
    let ids: Vec<Option<String>> = asked_all.candidates.iter().map(|c| c.id.clone()).collect();
    let submissions = asked_all.submissions()?;
    let since = judging.desk.changes();
    let works = judging.make(submissions).await?;
    let outcomes = judging.judge(&works, deadline).await?;
    let shapes: Vec<Reward> = works
        .iter()
        .map(|work| {
            let of_prompt = work.prompt.as_ref().map(|prompt| prompt.reward);
            judging.reward(reward.or(of_prompt))
        })
        .collect();
    let earned = earned(judging, &works, &outcomes, &shapes, deadline).await?;
    judging.desk.one_class(since)?;
    let told = works.iter().zip(&outcomes).zip(&earned).zip(&ids);
    judging
        .searches
        .take_in(told.map(|(((work, outcome), earned), id)| JudgedAnswer {
            prompt: work.prompt.as_ref(),
            made: &work.made,
            outcome,
            reward: earned.reward,
            id: id.as_deref(),
        }))
        .await?;
    let look = judging.desk.look();
    Ok(Json(Answered {
        reward: judging.reward(reward),
        judged: ids
            .into_iter()
            .zip(works.iter().zip(&outcomes))
            .zip(earned.into_iter().zip(&shapes))
            .map(|((id, (work, outcome)), (earned, shape))| {
                Judged::new(id, work, outcome, earned, *shape)
            })
            .collect(),
        // A batch that needed no machine names none.
        machine: look.bench.unwrap_or_default(),
        version: env!("CARGO_PKG_VERSION"),
    }))
}

/// What each candidate earned within its group: those of one task that name the same `group`.
async fn earned(
    judging: &Judging,
    works: &[Work],
    outcomes: &[Outcome],
    shapes: &[Reward],
    deadline: tokio::time::Instant,
) -> Result<Vec<Earned>, Fault> {
    let mut groups: BTreeMap<(&str, Option<&str>, &str), Vec<usize>> = BTreeMap::new();
    for (index, work) in works.iter().enumerate() {
        let key = (
            work.task.hash.as_str(),
            work.group.as_deref(),
            shapes[index].name(),
        );
        groups.entry(key).or_default().push(index);
    }
    let mut all = vec![Earned::default(); works.len()];
    for members in groups.into_values() {
        let (shape, task) = (shapes[members[0]], &works[members[0]].task);
        let context = judging.worth.context(shape, task, deadline).await?;
        let verdicts: Vec<Option<&Verdict>> = members
            .iter()
            .map(|index| {
                outcomes[*index]
                    .as_ref()
                    .ok()
                    .map(|judgement| &judgement.verdict)
            })
            .collect();
        for (index, earned) in members
            .iter()
            .zip(worth::earned(shape, &verdicts, &context)?)
        {
            all[*index] = earned;
        }
    }
    Ok(all)
}

impl Judged {
    fn new(
        id: Option<String>,
        work: &Work,
        outcome: &Outcome,
        earned: Earned,
        shape: Reward,
    ) -> Self {
        let judgement = outcome.as_ref().ok();
        let verdict = judgement.map(|judgement| &judgement.verdict);
        // An implausible speed is no speed: a trainer that reads one learns to cheat.
        let measured = verdict.and_then(Verdict::correct);
        let candidate = work.made.as_ref().ok();
        Self {
            id,
            task: work.task.spec.name.clone(),
            stage: work.stage,
            status: match (judgement, earned.reward) {
                (None, _) => Status::MachineFailure,
                (Some(_), None) => Status::Masked,
                (Some(_), Some(_)) => Status::Judged,
            },
            verdict: verdict.map(Verdict::label),
            reward: earned.reward,
            noise: earned.noise,
            reward_shape: shape.name(),
            detail: verdict.map(Verdict::detail).unwrap_or_default(),
            language: work.task.spec.language,
            seconds_per_call: measured.map(|measured| measured.seconds),
            gflops: measured.and_then(Measured::gflops),
            gflops_paper: measured.and_then(Measured::gflops_paper),
            peak_fraction: measured.and_then(Measured::peak_fraction),
            openblas_ratio: measured.and_then(Measured::openblas_ratio),
            baseline: measured.and_then(|measured| measured.baseline.clone()),
            timing: measured.map(|measured| measured.timing.clone()),
            seconds: judgement.map(|judgement| judgement.seconds),
            hash: candidate.map(|candidate| candidate.hash().to_owned()),
            notes: candidate
                .map(|candidate| candidate.notes().to_vec())
                .unwrap_or_default(),
            error: outcome.as_ref().err().map(|error| error.what.clone()),
        }
    }
}
