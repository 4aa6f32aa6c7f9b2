//! An episode: a task, the steps so far, and what an agent sees of them.

use hotloop_flow::{Label, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::adapters::{Graded, grade_one};
use crate::asked::{self, Submission, What};
use crate::body::Body;
use crate::fault::Fault;
use crate::judging::Judging;

/// Turns of an episode.
const TURNS: u32 = 8;
/// The longest name of an episode, as `OpenEnv` has it.
const NAME: usize = 255;

/// Where an episode stands.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Episode {
    /// Tells it from one that had its name before.
    #[serde(skip)]
    pub(super) number: u64,
    #[serde(rename = "episode_id")]
    pub(super) name: Option<String>,
    step_count: u32,
    task: String,
    stage: Option<hotloop_flow::Stage>,
    done: bool,
    best_reward: Option<f64>,
}

/// What `reset` may say.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Begin {
    episode_id: Option<String>,
    task: Option<String>,
    #[serde(deserialize_with = "asked::stage")]
    stage: Option<hotloop_flow::Stage>,
    /// Nothing here is drawn.
    #[serde(rename = "seed")]
    _seed: Option<Value>,
}

impl Body for Begin {}

/// What a step hands in.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Action {
    /// A candidate, or the answer of a model that it stands in.
    code: String,
    /// Every action of `OpenEnv` has it.
    #[serde(default, rename = "metadata")]
    _metadata: Option<Value>,
}

impl Body for Action {}

/// What an agent sees.
#[derive(Debug, Serialize)]
pub(super) struct Observation {
    task: String,
    prompt: String,
    signature: String,
    reference_code: String,
    verdict: Option<Label>,
    feedback: String,
    compilation_success: Option<bool>,
    correctness_pass: Option<bool>,
    gflops: Option<f64>,
    speedup: Option<f64>,
    turn: u32,
    max_turns: u32,
}

/// An observation and what came with it.
#[derive(Debug, Serialize)]
pub(super) struct Seen {
    observation: Observation,
    reward: Option<f64>,
    done: bool,
}

impl Episode {
    pub(super) fn begin(judging: &Judging, begin: Begin) -> Result<(Self, Seen), Fault> {
        if begin
            .episode_id
            .as_ref()
            .is_some_and(|name| name.len() > NAME)
        {
            return Err(Fault::bad(format!(
                "episode_id has at most {NAME} characters"
            )));
        }
        let task = judging.catalogue.find(begin.task.as_deref())?;
        judging.check_stage(&task.spec.name, begin.stage)?;
        let episode = Self {
            number: 0,
            name: begin.episode_id,
            step_count: 0,
            task: task.spec.name.clone(),
            stage: begin.stage,
            done: false,
            best_reward: None,
        };
        let observation = episode.observation(&task);
        Ok((
            episode,
            Seen {
                observation,
                reward: None,
                done: false,
            },
        ))
    }

    fn observation(&self, task: &hotloop_flow::Task) -> Observation {
        Observation {
            task: self.task.clone(),
            prompt: task.prompt.clone(),
            signature: task.signature(),
            reference_code: task.seed.clone(),
            verdict: None,
            feedback: String::new(),
            compilation_success: None,
            correctness_pass: None,
            gflops: None,
            speedup: None,
            turn: self.step_count,
            max_turns: TURNS,
        }
    }

    /// Has what a step hands in judged, which takes long; [`Self::step`] counts it.
    pub(super) async fn judge(
        &self,
        judging: &Judging,
        action: Action,
        wait_s: Option<f64>,
    ) -> Result<Graded, Fault> {
        self.going()?;
        let what = What {
            task: Some(self.task.clone()),
            stage: self.stage,
            ..What::default()
        };
        let one = Submission::completion(what, action.code);
        grade_one(judging, one, None, judging.deadline(wait_s)).await
    }

    fn going(&self) -> Result<(), Fault> {
        if self.done {
            Err(Fault::conflict("the episode is over").hint("reset it"))
        } else {
            Ok(())
        }
    }

    /// One step, with what was judged for it.
    pub(super) fn step(&mut self, graded: &Graded) -> Result<Seen, Fault> {
        self.going()?;
        self.step_count += 1;
        self.done = self.step_count >= TURNS;
        // This protocol has a null, so that a masked verdict need not become a number.
        let verdict = graded.verdict();
        let reward = Some(graded.reward).filter(|_| !matches!(verdict, Verdict::Suspect { .. }));
        self.best_reward = self.best_reward.into_iter().chain(reward).reduce(f64::max);
        let label = verdict.label();
        let observation = Observation {
            verdict: Some(label),
            feedback: verdict.detail(),
            compilation_success: Some(label > Label::NotCompiled),
            correctness_pass: Some(label >= Label::Suspect),
            gflops: verdict.correct().and_then(hotloop_flow::Measured::gflops),
            speedup: graded.speedup(),
            ..self.observation(&graded.work.task)
        };
        Ok(Seen {
            observation,
            reward,
            done: self.done,
        })
    }
}
