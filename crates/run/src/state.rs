//! The state of a run: a fold over its events. Resume, reports and the API all use it.

mod best;
mod found;
mod lookup;

use std::collections::BTreeMap;
use std::path::Path;

use hotloop_flow::advantage::Fate;
use hotloop_flow::bench::Judgement;
use hotloop_flow::policy::Updated;
use hotloop_flow::reward::RewardContext;
use hotloop_flow::search::{Archive, ArchiveKind, Node, Parent, Pool, Root, SeedOnly, Tree};
use hotloop_flow::{Pace, Stage, Verdict, WeightedTokens};

use crate::event::{
    Asked, Event, GroupFinished, GroupSampled, Line, Made, Place, ProbeJudged, RunStarted,
    StepFinished, StepSampled, StepSeconds, Watched, When,
};
use crate::journal::{self, JournalError};
use crate::review::{Opinion, WORDING};
use crate::store;

pub use best::Best;

/// Everything known about a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunState {
    /// What it began with.
    pub started: Option<RunStarted>,
    /// When, in seconds since 1970.
    pub started_s: f64,
    /// The task's seed.
    pub seed: Option<Judgement>,
    /// The seeds of practised tasks, by the task's name.
    pub practised_seeds: BTreeMap<String, Judgement>,
    /// The fixed probe, stage by stage.
    pub probes: Vec<ProbeJudged>,
    /// The iterations of the search.
    pub iterations: Vec<Iteration>,
    /// What the current iteration has produced so far.
    pub pool: Pool,
    /// What all iterations have produced, as a tree.
    pub tree: Tree,
    /// The profiles of parents, by hash.
    pub profiles: BTreeMap<String, String>,
    /// The finished steps.
    pub steps: Vec<Step>,
    /// Steps that were sampled and have not finished.
    pub open: BTreeMap<u64, OpenStep>,
    /// Updates since the last checkpoint.
    pub replay: Vec<(u64, Vec<WeightedTokens>)>,
    /// Steps that the last checkpoint has learned from.
    pub checkpoint: Option<u64>,
    /// The temperature of the next sampling.
    pub temperature: f64,
    /// The fastest correct candidate.
    pub best: Option<Best>,
    /// The reviewer's opinions, by practised task and candidate; `None` where no answer of it could
    /// be read.
    pub opinions: BTreeMap<(Option<String>, String), Option<Opinion>>,
    /// Fresh verdicts of the fastest candidates, by hash.
    pub confirmed: BTreeMap<String, Vec<Judgement>>,
    /// How often the run was resumed.
    pub resumed: u32,
    /// Why it waits, if it does.
    pub paused: Option<String>,
    /// Why it takes no more steps, if its policy diverged.
    pub stopped: Option<String>,
    /// Why a run with a sound policy takes no more steps, if it does not.
    pub enough: Option<String>,
    /// Why it is over, if it is.
    pub ended: Option<String>,
}

/// One iteration of the search.
#[derive(Debug, Clone, PartialEq)]
pub struct Iteration {
    /// The first step that uses its parents.
    pub first_step: u64,
    /// Its parents, in the order of use.
    pub parents: Vec<Parent>,
}

/// A step that was sampled and has not finished.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenStep {
    /// Its answers.
    pub sampled: StepSampled,
    /// The verdicts so far; `None` for masked members.
    pub judged: BTreeMap<(u32, u32), Option<Judgement>>,
}

/// A finished step.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Its number, from 0.
    pub number: u64,
    /// The iteration of the search that it belongs to.
    pub iteration: Option<u32>,
    /// Its groups, of the run's own task.
    pub groups: Vec<Group>,
    /// Its groups of practised tasks. The policy learns from them, and nothing else uses them.
    pub practised: Vec<Group>,
    /// How many updates behind its sampler was.
    pub lag: u64,
    /// The temperature of its sampling.
    pub temperature: f64,
    /// The update's statistics.
    pub updated: Option<Updated>,
    /// The monitored values.
    pub watched: Watched,
    /// Warnings for the user.
    pub warnings: Vec<String>,
    /// Where the time went.
    pub seconds: StepSeconds,
    /// When it ended, in seconds since 1970.
    pub at_s: f64,
}

/// A finished group.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// What was asked.
    pub asked: Asked,
    pub members: Vec<Member>,
    /// Whether the policy learned from it, and if not, why.
    pub fate: Fate,
    /// Timing noise in reward units.
    pub noise: f64,
}

/// A judged answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// The candidate's hash; none for malformed answers.
    pub hash: Option<String>,
    /// The hash of its normalised source.
    pub normal: Option<String>,
    /// Tokens of the answer.
    pub tokens: usize,
    /// Its verdict; `None` where the machine failed.
    pub verdict: Option<Verdict>,
    /// Its speed in the unit of its task, when it is correct.
    pub speed: Option<f64>,
    /// Its reward; `None` where masked.
    pub reward: Option<f64>,
    /// Its advantage over the group.
    pub advantage: Option<f64>,
}

impl Step {
    /// All of its groups, practised ones last.
    pub(crate) fn all_groups(&self) -> impl Iterator<Item = &Group> {
        self.groups.iter().chain(&self.practised)
    }

    /// All members of its groups, practised ones left out.
    pub fn members(&self) -> impl Iterator<Item = &Member> {
        self.groups.iter().flat_map(|group| &group.members)
    }
}

impl RunState {
    /// The state that follows from a journal.
    pub fn of<'a>(lines: impl IntoIterator<Item = &'a Line>) -> Self {
        let mut state = Self::default();
        for line in lines {
            state.apply(&line.event, line.at_s);
        }
        state
    }

    /// Reads the state of a run directory without disturbing a process that writes to it.
    pub fn read(directory: &Path) -> Result<Self, JournalError> {
        Ok(Self::of(&journal::read(&store::journal_path(directory))?))
    }

    /// Steps finished so far, which is also the number of the next.
    pub fn finished(&self) -> u64 {
        self.steps.len() as u64
    }

    /// Judged answers of the run's own task so far. Those that the machine failed to judge, and
    /// probes, do not count.
    pub fn judged_answers(&self) -> u64 {
        let members = self.steps.iter().flat_map(Step::members);
        members.filter(|member| member.verdict.is_some()).count() as u64
    }

    /// What the search has found so far.
    pub fn archive(&self, kind: ArchiveKind) -> &dyn Archive {
        match kind {
            ArchiveKind::Sqd => &self.pool,
            ArchiveKind::Puct => &self.tree,
            ArchiveKind::None => &SeedOnly,
        }
    }

    /// The seed, from which the search starts.
    pub fn root(&self) -> Root<'_> {
        Root {
            normal: self
                .started
                .as_ref()
                .map_or("", |started| started.seed_normal.as_str()),
            speed: self.seed_speed(),
        }
    }

    /// Seconds spent in steps so far.
    pub fn stepping_s(&self) -> f64 {
        // The sum of nothing is -0.
        self.steps.iter().map(|step| step.seconds.wall).sum::<f64>() + 0.0
    }

    /// What rewards are relative to: the seed, and the library and roof measured with it.
    pub fn context(&self) -> RewardContext {
        self.context_of(None)
    }

    /// The same for a practised task; `None` is the run's own.
    pub fn context_of(&self, task: Option<&str>) -> RewardContext {
        let seed = self.seed_of(task).and_then(|seed| seed.verdict.measured());
        seed.map(RewardContext::of_seed).unwrap_or_default()
    }

    /// The unit of speeds of the run's own task.
    pub fn pace(&self) -> Pace {
        self.context().pace
    }

    /// The speed of the run's own seed.
    pub fn seed_speed(&self) -> Option<f64> {
        let measured = self.seed.as_ref()?.verdict.correct()?;
        measured.speed(self.pace())
    }

    /// The judgement of a practised task's seed; `None` is the run's own task.
    pub fn seed_of(&self, task: Option<&str>) -> Option<&Judgement> {
        task.map_or(self.seed.as_ref(), |task| self.practised_seeds.get(task))
    }

    /// Takes in one event.
    pub fn apply(&mut self, event: &Event, at_s: f64) {
        match event {
            Event::RunStarted(started) => {
                self.temperature = started.temperature;
                self.started = Some((**started).clone());
                self.started_s = at_s;
            }
            Event::RunResumed { .. } => {
                self.resumed += 1;
                self.paused = None;
            }
            Event::SeedJudged {
                task: None,
                judgement,
            } => self.seed = Some(judgement.clone()),
            Event::SeedJudged {
                task: Some(task),
                judgement,
            } => {
                self.practised_seeds.insert(task.clone(), judgement.clone());
            }
            Event::ProbeJudged(probe) => self.probes.push((**probe).clone()),
            Event::ParentsChosen {
                first_step,
                parents,
                elites,
                ..
            } => {
                self.pool = self.pool.elites(*elites);
                self.iterations.push(Iteration {
                    first_step: *first_step,
                    parents: parents.clone(),
                });
            }
            Event::ParentProfiled { hash, profile } => {
                self.profiles.insert(hash.clone(), profile.clone());
            }
            Event::StepSampled(sampled) => {
                let judged = malformed(sampled);
                self.open.insert(
                    sampled.step,
                    OpenStep {
                        sampled: (**sampled).clone(),
                        judged,
                    },
                );
            }
            Event::CandidateJudged { at, judgement } => self.judged(*at, Some(judgement.clone())),
            Event::CandidateMasked { at, .. } => self.judged(*at, None),
            Event::CandidateReviewed(reviewed) if reviewed.wording == WORDING => {
                let key = (reviewed.task.clone(), reviewed.hash.clone());
                self.opinions.insert(key, reviewed.opinion.clone());
            }
            Event::CandidateReviewed(_) => {}
            Event::StepFinished(finished) => self.finish(finished, at_s),
            Event::CandidateConfirmed { hash, judgements } => self.confirm(hash, judgements),
            Event::CheckpointSaved { step } => {
                self.checkpoint = Some(*step);
                self.replay.retain(|(number, _)| number >= step);
            }
            Event::RunPaused { why } => self.paused = Some(why.clone()),
            Event::RunEnded { why } => self.ended = Some(why.clone()),
        }
    }

    fn judged(&mut self, at: Place, judgement: Option<Judgement>) {
        if let Some(open) = self.open.get_mut(&at.step) {
            open.judged.insert((at.group, at.member), judgement);
        }
    }

    fn finish(&mut self, finished: &StepFinished, at_s: f64) {
        let Some(open) = self.open.remove(&finished.step) else {
            return;
        };
        let all = groups(self, &open, &finished.groups).into_iter();
        let (groups, practised): (Vec<Group>, Vec<Group>) =
            all.partition(|group| group.asked.task.is_none());
        for group in &groups {
            self.remember(group, finished.step);
        }
        if finished.updated.is_some() {
            self.replay
                .push((finished.step, batch(&open.sampled, finished)));
        }
        self.temperature = finished.temperature;
        self.steps.push(Step {
            number: finished.step,
            iteration: (!self.iterations.is_empty()).then(|| self.iterations.len() as u32 - 1),
            groups,
            practised,
            lag: open.sampled.lag,
            temperature: open.sampled.temperature,
            updated: finished.updated.clone(),
            watched: finished.watched,
            warnings: finished.warnings.clone(),
            seconds: finished.seconds,
            at_s,
        });
        self.stopped.clone_from(&finished.stop);
        self.enough.clone_from(&finished.enough);
        // The run continues with a longer budget, so its earlier end no longer counts.
        self.confirmed.clear();
        self.probes.retain(|probe| probe.when != When::After);
    }

    /// Adds a group's candidates to what the search has found, and updates the fastest.
    fn remember(&mut self, group: &Group, step: u64) {
        if let Some(stage) = group.asked.stage {
            let members = group.members.iter();
            let nodes: Vec<Node> = members.filter_map(|member| node(member, stage)).collect();
            let parent = group.asked.parent.as_deref();
            self.pool.grow(parent, nodes.clone());
            self.tree.grow(parent, nodes);
        }
        for member in &group.members {
            let (Some(hash), Some(verdict), Some(speed)) =
                (&member.hash, &member.verdict, member.speed)
            else {
                continue;
            };
            if self.best.as_ref().is_none_or(|best| speed > best.speed) {
                self.best = Some(Best {
                    hash: hash.clone(),
                    speed,
                    step,
                    verdict: verdict.clone(),
                    timings: 0,
                });
            }
        }
    }
}

/// A judged candidate for the search; `None` for malformed and masked answers.
fn node(member: &Member, stage: Stage) -> Option<Node> {
    Some(Node {
        hash: member.hash.clone()?,
        normal: member.normal.clone()?,
        stage,
        label: member.verdict.as_ref()?.label(),
        speed: member.speed,
    })
}

/// The verdicts that need no bench.
fn malformed(sampled: &StepSampled) -> BTreeMap<(u32, u32), Option<Judgement>> {
    let mut judged = BTreeMap::new();
    for (group, answers) in (0..).zip(&sampled.groups) {
        for (member, answer) in (0..).zip(&answers.answers) {
            if let Made::Malformed { why } = &answer.made {
                let verdict = Verdict::Malformed { why: why.clone() };
                judged.insert(
                    (group, member),
                    Some(Judgement {
                        verdict,
                        seconds: hotloop_flow::bench::Seconds::default(),
                    }),
                );
            }
        }
    }
    judged
}

/// All groups of a step, with their outcomes.
pub(crate) fn groups(state: &RunState, open: &OpenStep, finished: &[GroupFinished]) -> Vec<Group> {
    let zipped = (0..).zip(&open.sampled.groups).zip(finished);
    let pace = |group: &GroupSampled| state.context_of(group.asked.task.as_deref()).pace;
    zipped
        .map(|((at, sampled), finished)| Group {
            asked: sampled.asked.clone(),
            members: (0..)
                .zip(&sampled.answers)
                .map(|(member, answer)| {
                    let (hash, normal) = match &answer.made {
                        Made::Candidate { hash, normal } => {
                            (Some(hash.clone()), Some(normal.clone()))
                        }
                        Made::Malformed { .. } => (None, None),
                    };
                    let index = member as usize;
                    let judged = open.judged.get(&(at, member)).cloned().flatten();
                    let verdict = judged.map(|judged| judged.verdict);
                    Member {
                        hash,
                        normal,
                        tokens: answer.tokens.len(),
                        speed: verdict
                            .as_ref()
                            .and_then(Verdict::correct)
                            .and_then(|measured| measured.speed(pace(sampled))),
                        verdict,
                        reward: finished.rewards.get(index).copied().flatten(),
                        advantage: finished.advantages.get(index).copied().flatten(),
                    }
                })
                .collect(),
            fate: finished.fate,
            noise: finished.noise,
        })
        .collect()
}

/// The batch that a finished step trained on.
fn batch(sampled: &StepSampled, finished: &StepFinished) -> Vec<WeightedTokens> {
    let groups = sampled.groups.iter().zip(&finished.groups);
    groups
        .flat_map(|(group, finished)| weighted(group, sampled.temperature, &finished.advantages))
        .collect()
}

/// A group's answers with their advantages. Answers without one are left out.
pub(crate) fn weighted(
    group: &GroupSampled,
    temperature: f64,
    advantages: &[Option<f64>],
) -> Vec<WeightedTokens> {
    let pairs = group.answers.iter().zip(advantages);
    pairs
        .filter_map(|(answer, advantage)| {
            Some(WeightedTokens {
                prompt_tokens: group.prompt_tokens.clone(),
                tokens: answer.tokens.clone(),
                logprobs: answer.logprobs.clone(),
                temperature,
                advantage: (*advantage)?,
            })
        })
        .collect()
}
