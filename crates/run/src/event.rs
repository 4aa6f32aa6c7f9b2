//! Every fact that a run records. The journal of these events is the truth, and the state is its
//! fold.
//!
//! A change that makes old journals unreadable must raise [`VERSION`].

use hotloop_flow::advantage::Fate;
use hotloop_flow::bench::Judgement;
use hotloop_flow::policy::{Capabilities, Ending, Updated};
use hotloop_flow::search::Parent;
use hotloop_flow::{MachineFacts, Role, Stage};
use serde::{Deserialize, Serialize};

use crate::review::Opinion;

/// The version of the journal's format.
pub const VERSION: u32 = 2;

/// One line of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// The version of the format.
    pub v: u32,
    /// When, in seconds since 1970.
    pub at_s: f64,
    /// What.
    #[serde(flatten)]
    pub event: Event,
}

/// A fact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The run began.
    RunStarted(Box<RunStarted>),
    /// A process resumed the run.
    RunResumed {
        /// Steps finished so far.
        step: u64,
    },
    /// A task's seed was judged: rewards are measured against it.
    SeedJudged {
        /// The practised task; `None` is the run's own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<String>,
        judgement: Judgement,
    },
    /// One stage of the fixed probe was judged.
    ProbeJudged(Box<ProbeJudged>),
    /// An iteration of the search chose its parents.
    ParentsChosen {
        /// The iteration, from 0.
        iteration: u32,
        /// The first step that asks them.
        first_step: u64,
        /// The parents, in the order in which they are asked.
        parents: Vec<Parent>,
        /// How many of each stage's fastest stayed in the pool.
        elites: usize,
    },
    /// A parent's profile was taken for its prompt.
    ParentProfiled {
        hash: String,
        /// Empty where the bench takes none.
        profile: String,
    },
    /// A step's answers were drawn.
    StepSampled(Box<StepSampled>),
    /// A candidate was judged.
    CandidateJudged {
        /// Which.
        at: Place,
        judgement: Judgement,
    },
    /// The machine failed to judge a candidate, even after retries.
    CandidateMasked {
        /// Which.
        at: Place,
        /// What failed.
        why: String,
    },
    /// The reviewer read a candidate.
    CandidateReviewed(Box<CandidateReviewed>),
    /// A step ended: rewards, advantages and the update are done.
    StepFinished(Box<StepFinished>),
    /// One of the fastest candidates was judged again at the end, because the fastest of many
    /// timings is partly luck.
    CandidateConfirmed {
        hash: String,
        /// The fresh verdicts; machine failures left out.
        judgements: Vec<Judgement>,
    },
    /// The policy was saved.
    CheckpointSaved {
        /// Steps that it has learned from.
        step: u64,
    },
    /// The run waits until someone fixes a problem or resumes it.
    RunPaused { why: String },
    /// The run is over.
    RunEnded { why: String },
}

/// A reviewer's opinion on a candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CandidateReviewed {
    /// The version of the question.
    pub wording: u32,
    /// The practised task; `None` is the run's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The candidate. Its copies get the same opinion.
    pub hash: String,
    /// `None` if no answer of the reviewer could be read.
    pub opinion: Option<Opinion>,
    /// Why there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// What a run began with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunStarted {
    /// The task's name.
    pub task: String,
    /// Its content.
    pub task_hash: String,
    /// The practised tasks, in the order of their turns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub practised: Vec<Practised>,
    /// How many stages the task has. Older journals lack this field; every task had six stages
    /// then.
    #[serde(default = "six")]
    pub stages: usize,
    /// The seed's normalised source, hashed.
    pub seed_normal: String,
    /// The machine that judges.
    pub machine: MachineFacts,
    pub policy: Capabilities,
    /// The temperature of the first step.
    pub temperature: f64,
    /// The resolved configuration, but for where the run is stored and judged. Older journals lack
    /// this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<String>,
}

fn six() -> usize {
    hotloop_flow::language::c::stages::SIX.len()
}

/// A task that a run practises in addition to its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Practised {
    /// The task's name.
    pub task: String,
    /// Its content.
    pub task_hash: String,
}

/// One stage of the fixed probe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProbeJudged {
    /// Before or after the run.
    pub when: When,
    /// The stage that was asked for.
    pub stage: Stage,
    /// The verdicts; `None` where the machine failed.
    pub judgements: Vec<Option<Judgement>>,
}

/// When a probe was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// Before the first step.
    Before,
    /// After the last.
    After,
}

/// Names one answer of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    /// The step, from 0.
    pub step: u64,
    /// The group within the step.
    pub group: u32,
    /// The member within the group.
    pub member: u32,
}

/// A step's answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepSampled {
    /// The step, from 0.
    pub step: u64,
    /// How many updates behind the policy was: 0 is on-policy, 1 is overlapped.
    pub lag: u64,
    /// The sampling temperature.
    pub temperature: f64,
    /// One group per prompt.
    pub groups: Vec<GroupSampled>,
}

/// The answers to one prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupSampled {
    /// What was asked.
    pub asked: Asked,
    /// The prompt's tokens, including the beginning of the answer.
    pub prompt_tokens: Vec<u32>,
    pub answers: Vec<Answer>,
}

impl GroupSampled {
    /// For each answer, the number of rewarded answers with the same program, itself included.
    /// Masked copies do not count. Malformed answers are not copies of each other.
    pub fn copies(&self, rewards: &[Option<f64>]) -> Vec<u32> {
        let normal = |(answer, reward): (&Answer, &Option<f64>)| match &answer.made {
            Made::Candidate { normal, .. } => reward.map(|_| normal.clone()),
            Made::Malformed { .. } => None,
        };
        let normals: Vec<Option<String>> = self.answers.iter().zip(rewards).map(normal).collect();
        let copies = |of: &String| {
            normals
                .iter()
                .flatten()
                .filter(|other| *other == of)
                .count() as u32
        };
        normals
            .iter()
            .map(|normal| normal.as_ref().map_or(1, copies))
            .collect()
    }
}

/// A prompt in the form of the choices that render it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// The practised task; `None` is the run's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// Why.
    pub role: Role,
    /// The stage whose rules hold.
    pub stage: Option<Stage>,
    /// The parent's hash; `None` for the seed and for fixed prompts.
    pub parent: Option<String>,
    /// Which of the fixed prompts.
    pub variant: usize,
    /// The hashes of other programs that it shows with their speeds, slowest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<String>,
}

impl Asked {
    /// Whether a profile of the parent belongs into the prompt: only a correct parent has one.
    pub(crate) fn wants_profile(&self) -> bool {
        self.task.is_none() && matches!(self.role, Role::Deepen | Role::Improve)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    pub tokens: Vec<u32>,
    /// The sampler's logprobs.
    pub logprobs: Vec<f32>,
    /// Why it ended.
    pub ending: Ending,
    /// The code in it.
    pub made: Made,
}

/// The result of extracting code from an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Made {
    /// A candidate, stored under its hash.
    Candidate {
        hash: String,
        /// The hash of its normalised source.
        normal: String,
    },
    /// Nothing.
    Malformed {
        /// What is missing.
        why: String,
    },
}

/// The outcome of a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepFinished {
    /// The step, from 0.
    pub step: u64,
    pub groups: Vec<GroupFinished>,
    /// The update's statistics; `None` if there was nothing to learn from or the rate is 0.
    pub updated: Option<Updated>,
    /// The monitored values.
    pub watched: Watched,
    /// The temperature from the next sampling on.
    pub temperature: f64,
    /// Warnings for the user.
    pub warnings: Vec<String>,
    /// Why the run must stop, if it must.
    pub stop: Option<String>,
    /// Why a run with a sound policy takes no further step, if it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enough: Option<String>,
    /// Where the time went.
    pub seconds: StepSeconds,
}

/// The outcome of a group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupFinished {
    /// In the group's order; `None` where masked.
    pub rewards: Vec<Option<f64>>,
    /// In the group's order; `None` where there is nothing to learn.
    pub advantages: Vec<Option<f64>>,
    /// Whether the policy learns from the group, and if not, why.
    pub fate: Fate,
    /// Timing noise in reward units.
    pub noise: f64,
}

/// Values that show whether the policy is collapsing.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Watched {
    /// Mean entropy of the policy in nats per token, from the sampled logprobs where they exist.
    pub entropy: Option<f64>,
    /// Distinct candidates as a share of all candidates.
    pub distinct: f64,
    /// Live groups as a share of all.
    pub live: f64,
    /// KL divergence from the reference policy, where it was measured.
    pub kl: Option<f64>,
}

/// Where a step's time went, in the process that finished it. Time that interrupted processes spent
/// on the step is not recorded, because the journal's clock may jump.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct StepSeconds {
    /// From beginning to end.
    pub wall: f64,
    /// The policy drew answers.
    pub sampling: f64,
    /// The bench worked, from submission to its last verdict.
    pub judging: f64,
    /// The policy learned.
    pub updating: f64,
    /// The policy waited for the bench.
    pub policy_idle: f64,
    /// The bench had nothing to do.
    pub bench_idle: f64,
}

impl Event {
    /// Whether the journal must be on disk before the run continues.
    pub(crate) fn is_milestone(&self) -> bool {
        matches!(
            self,
            Self::RunStarted(_)
                | Self::ProbeJudged(_)
                | Self::StepFinished(_)
                | Self::CheckpointSaved { .. }
                | Self::RunPaused { .. }
                | Self::RunEnded { .. }
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(normal: &str) -> Made {
        Made::Candidate {
            hash: String::new(),
            normal: normal.into(),
        }
    }

    fn group(made: impl IntoIterator<Item = Made>) -> GroupSampled {
        let answer = |made| Answer {
            tokens: vec![],
            logprobs: vec![],
            ending: Ending::Stop,
            made,
        };
        let asked = Asked {
            task: None,
            role: Role::Explore,
            stage: None,
            parent: None,
            variant: 0,
            beside: Vec::new(),
        };
        GroupSampled {
            asked,
            prompt_tokens: vec![],
            answers: made.into_iter().map(answer).collect(),
        }
    }

    #[test]
    fn copies_are_counted_by_the_normalised_program() {
        let malformed = || Made::Malformed { why: String::new() };
        let made = [
            candidate("a"),
            malformed(),
            candidate("b"),
            candidate("a"),
            malformed(),
            candidate("a"),
        ];
        assert_eq!(group(made).copies(&[Some(1.0); 6]), [3, 1, 1, 3, 1, 3]);
    }

    #[test]
    fn masked_copies_do_not_count() {
        let shared = |made: Vec<Made>, rewards: &[Option<f64>]| {
            let of = hotloop_flow::advantage::Group {
                rewards,
                copies: &group(made).copies(rewards),
                speeds: &[],
                noise: 0.0,
            };
            let numbers = hotloop_flow::advantage::Numbers {
                std_floor: 0.3,
                k: 2,
                kl: 0.5,
            };
            hotloop_flow::advantage::Advantage::Shared.of(&of, &numbers)
        };
        let masked = shared(
            vec![candidate("a"), candidate("a"), candidate("b")],
            &[Some(1.0), None, Some(4.0)],
        );
        let without = shared(
            vec![candidate("a"), candidate("b")],
            &[Some(1.0), Some(4.0)],
        );
        assert_eq!(masked.values, [without.values[0], None, without.values[1]]);
        assert_eq!((masked.mean, masked.std), (without.mean, without.std));
    }

    #[test]
    fn a_divergence_is_a_number_or_was_not_measured() {
        let read = |kl: &str| -> Updated {
            let rest =
                r#""loss":1.0,"gradient_norm":1.0,"clipped":0.0,"entropy":1.0,"sampler_gap":0.0"#;
            serde_json::from_str(&format!("{{{kl}{rest}}}")).unwrap()
        };
        assert_eq!(
            read(r#""kl":0.25,"#).kl,
            Some(0.25),
            "as it was written when it was always there"
        );
        let unmeasured = read(r#""kl":null,"#);
        assert_eq!((unmeasured.kl, read("").kl), (None, None));
        assert_eq!(
            serde_json::from_str::<Updated>(&serde_json::to_string(&unmeasured).unwrap()).unwrap(),
            unmeasured
        );
    }

    #[test]
    fn an_event_without_a_task_belongs_to_the_runs_own_and_keeps_its_format() {
        let old = r#"{"role":"explore","stage":3,"parent":null,"variant":0}"#;
        let asked: Asked = serde_json::from_str(old).unwrap();
        assert_eq!(asked.task, None);
        assert_eq!(serde_json::to_string(&asked).unwrap(), old);
        let seconds = hotloop_flow::bench::Seconds::default();
        let judgement = Judgement {
            verdict: hotloop_flow::Verdict::Malformed { why: String::new() },
            seconds,
        };
        let line = |task| {
            Line::new(
                Event::SeedJudged {
                    task,
                    judgement: judgement.clone(),
                },
                1.0,
            )
        };
        let (own, practised) = (line(None), line(Some("transpose".to_owned())));
        let written = serde_json::to_string(&own).unwrap();
        assert!(!written.contains("task"), "{written}");
        for line in [own, practised] {
            let read: Line = serde_json::from_str(&serde_json::to_string(&line).unwrap()).unwrap();
            assert_eq!(read, line);
        }
    }
}
