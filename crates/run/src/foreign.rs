//! A run whose policy lives elsewhere: a foreign trainer asks for prompts and hands in answers.
//!
//! Journal, state and search are the same as in every other run, so reports can read it. Only the
//! driver differs. A step consists of the answers to one prompt in one request. An iteration ends
//! when each of its prompts has a group of answers, or was handed out `PATIENCE` times without any,
//! because the trainer must have lost interest.

use std::path::PathBuf;

use hotloop_flow::advantage::Group;
use hotloop_flow::policy::{Capabilities, Chat, Ending};
use hotloop_flow::{
    Candidate, Judgement, MachineFacts, Prose, Reward, Stage, Verdict, noise, seed,
};

use crate::event::{
    Answer, Asked, Event, GroupFinished, GroupSampled, Line, Made, Place, RunStarted, StepFinished,
    StepSampled, StepSeconds,
};
use crate::interrupt::Interrupt;
use crate::plan::Plan;
use crate::prompt::Prompts;
use crate::sampling;
use crate::source::{self, Next};
use crate::state::RunState;
use crate::store::Store;
use crate::watch;

/// The search stops waiting for a prompt that was handed out this often without a group of answers.
const PATIENCE: u32 = 4;

/// The permanent name of a prompt within its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PromptId {
    /// The iteration of the search, from 0.
    pub iteration: u32,
    /// The parent within the iteration.
    pub parent: u32,
}

/// A prompt for a foreign trainer.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    /// Its name.
    pub id: PromptId,
    /// What is asked.
    pub asked: Asked,
    /// The prompt itself.
    pub chat: Chat,
}

/// An answer that a foreign trainer handed in, judged.
#[derive(Debug, Clone)]
pub struct Answered {
    /// The code in it, or what is missing.
    pub made: Result<Candidate, String>,
    /// The judgement, or the machine's failure.
    pub judged: Result<Judgement, String>,
    /// The reward that the trainer received; `None` where masked.
    pub reward: Option<f64>,
}

/// An open run of a foreign trainer.
pub struct ForeignRun {
    plan: Plan,
    store: Store,
    state: RunState,
    render: Prose,
    clock: fn() -> f64,
    /// How often each prompt of the current iteration was handed out. Losing these counts is
    /// harmless, so the journal does not hold them.
    handed: Vec<u32>,
}

impl ForeignRun {
    /// Starts the run of a plan, or continues the one in its directory.
    pub fn open(plan: Plan, machine: MachineFacts, clock: fn() -> f64) -> Result<Self, Interrupt> {
        let (store, lines) = Store::open(&plan.directory)?;
        let state = RunState::of(&lines);
        let render = Prose {
            wording: plan.wording.clone(),
            begin: plan.config.prompts.begin,
            device: machine.device.clone(),
        };
        let mut run = Self {
            plan,
            store,
            state,
            render,
            clock,
            handed: Vec::new(),
        };
        run.begin(machine)?;
        Ok(run)
    }

    fn begin(&mut self, machine: MachineFacts) -> Result<(), Interrupt> {
        let task = &self.plan.task;
        let Some(started) = &self.state.started else {
            let seed = seed::candidate(task)?;
            self.store.keep(&seed)?;
            self.store.keep_config(&self.plan.config.to_toml(), task)?;
            let policy = Capabilities {
                model: self.plan.config.model.clone(),
                learns: true,
                logprobs: false,
                context: 0,
            };
            return self.record(Event::RunStarted(Box::new(RunStarted {
                task: task.spec.name.clone(),
                task_hash: task.hash.clone(),
                practised: Vec::new(),
                stages: task.spec.stages.len(),
                seed_normal: sampling::normal(&seed),
                machine,
                policy,
                temperature: self.plan.config.sampling.temperature,
                config: Some(self.plan.journaled()),
            })));
        };
        self.plan.continues(started)?;
        same("task", &started.task_hash, &task.hash)?;
        self.compares_with(&machine)?;
        self.record(Event::RunResumed {
            step: self.state.finished(),
        })
    }

    /// Refuses a machine whose timings cannot be compared with the run's.
    pub fn compares_with(&self, machine: &MachineFacts) -> Result<(), Interrupt> {
        let Some(started) = &self.state.started else {
            return Ok(());
        };
        same("machine class", &started.machine.class, &machine.class)
    }

    /// Updates the journal first, then the state.
    fn record(&mut self, event: Event) -> Result<(), Interrupt> {
        let line = Line::new(event, (self.clock)());
        self.store.append(&line)?;
        self.state.apply(&line.event, line.at_s);
        Ok(())
    }

    pub fn state(&self) -> &RunState {
        &self.state
    }

    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    pub fn directory(&self) -> PathBuf {
        self.store.directory().to_owned()
    }

    /// The reward that its configuration names.
    pub fn reward(&self) -> Reward {
        self.plan.config.reward.shape
    }

    /// Records the judgement of the task's seed, which must come first.
    pub fn seed_judged(&mut self, judgement: Judgement) -> Result<(), Interrupt> {
        if self.state.seed.is_some() {
            return Ok(());
        }
        seed::measured(&self.plan.task, &judgement.verdict)?;
        self.record(Event::SeedJudged {
            task: None,
            judgement,
        })
    }

    /// The next prompts. Those that were handed out least often come first.
    pub fn prompts(&mut self, count: usize) -> Result<Vec<Prompt>, Interrupt> {
        let mut prompts = Vec::with_capacity(count);
        while prompts.len() < count {
            self.advance()?;
            let Some(iteration) = self.state.iterations.last() else {
                break;
            };
            self.handed.resize(iteration.parents.len(), 0);
            let least = (0..self.handed.len()).min_by_key(|parent| self.handed[*parent]);
            let Some(parent) = least else { break };
            self.handed[parent] += 1;
            let id = PromptId {
                iteration: self.state.iterations.len() as u32 - 1,
                parent: parent as u32,
            };
            let Some(asked) = self.asked(id) else { break };
            let chat = self.chat(&asked)?;
            prompts.push(Prompt { id, asked, chat });
        }
        Ok(prompts)
    }

    /// What a prompt asked.
    pub fn asked(&self, id: PromptId) -> Option<Asked> {
        let parent = self
            .state
            .iterations
            .get(id.iteration as usize)?
            .parents
            .get(id.parent as usize)?;
        Some(source::asked(parent))
    }

    /// How the answer to a prompt begins, and the stage whose rules apply.
    pub fn begun(&self, id: PromptId) -> Option<(String, Option<Stage>)> {
        let asked = self.asked(id)?;
        Some((self.chat(&asked).ok()?.begun, asked.stage))
    }

    fn chat(&self, asked: &Asked) -> Result<Chat, Interrupt> {
        let Self {
            plan,
            state,
            render,
            store,
            ..
        } = self;
        Ok(Prompts {
            plan,
            state,
            render,
            directory: store.directory(),
        }
        .chat(asked, state.finished())?)
    }

    /// Chooses new parents when the current ones have their answers.
    fn advance(&mut self) -> Result<(), Interrupt> {
        if !self.is_over() {
            return Ok(());
        }
        if let Next::Choose(chosen) = source::choose(&self.plan, &self.state, self.state.finished())
        {
            self.record(*chosen)?;
            self.handed.clear();
        }
        Ok(())
    }

    /// Whether the current iteration is over.
    fn is_over(&self) -> bool {
        let Some(iteration) = self.state.iterations.last() else {
            return true;
        };
        let group = self.plan.config.sampling.group as usize;
        let mut answers = vec![0; iteration.parents.len()];
        for step in self
            .state
            .steps
            .iter()
            .skip_while(|step| step.number < iteration.first_step)
        {
            for done in &step.groups {
                let parent = iteration
                    .parents
                    .iter()
                    .position(|parent| source::asked(parent) == done.asked);
                if let Some(parent) = parent {
                    answers[parent] += done.members.len();
                }
            }
        }
        let lost = |parent: usize| {
            self.handed
                .get(parent)
                .is_some_and(|handed| *handed >= PATIENCE)
        };
        !self.state.pool.is_empty()
            && (0..answers.len()).all(|parent| answers[parent] >= group || lost(parent))
    }

    /// Records the judged answers to a prompt as one step. Returns false if there is no such
    /// prompt.
    pub fn record_answers(
        &mut self,
        id: PromptId,
        answers: &[Answered],
    ) -> Result<bool, Interrupt> {
        let Some(asked) = self.asked(id) else {
            return Ok(false);
        };
        let began = (self.clock)();
        let step = self.state.finished();
        let mut sampled = GroupSampled {
            asked,
            prompt_tokens: Vec::new(),
            answers: Vec::new(),
        };
        for answer in answers {
            let made = match &answer.made {
                Ok(candidate) => {
                    self.store.keep(candidate)?;
                    Made::Candidate {
                        hash: candidate.hash().to_owned(),
                        normal: sampling::normal(candidate),
                    }
                }
                Err(why) => Made::Malformed { why: why.clone() },
            };
            sampled.answers.push(Answer {
                tokens: Vec::new(),
                logprobs: Vec::new(),
                ending: Ending::Stop,
                made,
            });
        }
        let temperature = self.state.temperature;
        let sampled = StepSampled {
            step,
            lag: 0,
            temperature,
            groups: vec![sampled],
        };
        self.record(Event::StepSampled(Box::new(sampled.clone())))?;
        for (member, answer) in (0..).zip(answers) {
            let at = Place {
                step,
                group: 0,
                member,
            };
            match (&answer.made, &answer.judged) {
                // The state already has these verdicts.
                (Err(_), _) => {}
                (Ok(_), Ok(judgement)) => {
                    self.record(Event::CandidateJudged {
                        at,
                        judgement: judgement.clone(),
                    })?;
                }
                (Ok(_), Err(why)) => self.record(Event::CandidateMasked {
                    at,
                    why: why.clone(),
                })?,
            }
        }
        let finished = self.finished(&sampled, answers, began);
        self.record(Event::StepFinished(Box::new(finished)))?;
        Ok(true)
    }

    fn finished(&self, sampled: &StepSampled, answers: &[Answered], began: f64) -> StepFinished {
        let rewards: Vec<Option<f64>> = answers.iter().map(|answer| answer.reward).collect();
        let verdicts: Vec<Option<&Verdict>> = answers
            .iter()
            .map(|answer| answer.judged.as_ref().ok().map(|judged| &judged.verdict))
            .collect();
        let noise = noise::of_group(self.reward(), &verdicts, &self.state.context()).unwrap_or(0.0);
        let learning = &self.plan.config.learning;
        let copies = sampled.groups[0].copies(&rewards);
        let pace = self.state.pace();
        let speed = |verdict: Option<&Verdict>| verdict?.correct()?.speed(pace);
        let speeds: Vec<Option<f64>> = verdicts.iter().copied().map(speed).collect();
        let group = Group {
            rewards: &rewards,
            copies: &copies,
            speeds: &speeds,
            noise,
        };
        // A foreign trainer's budget is unknown, so k stays at its beginning.
        let advantages = learning.advantage.of(&group, &learning.numbers(0.0));
        let groups = vec![GroupFinished {
            rewards,
            advantages: advantages.values,
            fate: advantages.fate,
            noise,
        }];
        let judging = answers
            .iter()
            .filter_map(|answer| Some(answer.judged.as_ref().ok()?.seconds.total))
            .fold(0.0f64, f64::max);
        StepFinished {
            step: sampled.step,
            watched: watch::watched(sampled, &groups, None),
            groups,
            updated: None,
            temperature: sampled.temperature,
            warnings: Vec::new(),
            stop: None,
            enough: None,
            seconds: StepSeconds {
                wall: judging + ((self.clock)() - began).max(0.0),
                judging,
                ..StepSeconds::default()
            },
        }
    }
}

fn same(what: &str, was: &str, is: &str) -> Result<(), Interrupt> {
    let said = |value: &str| format!("{what} {value}");
    if was == is {
        Ok(())
    } else {
        Err(Interrupt::Foreign {
            was: said(was),
            is: said(is),
        })
    }
}
