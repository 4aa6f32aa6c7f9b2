//! `hotloop corpus teach`: a teacher's answers, judged, as chats to learn from.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use hotloop_bench::tasks::shipped;
use hotloop_flow::language::reasoning;
use hotloop_flow::policy::{Chat, Completion, Ending, Message, Speaker};
use hotloop_flow::prompt::{Ask, Prose, Wording};
use hotloop_flow::{
    BenchError, Candidate, Job, JobId, Judgement, Label, Language, Measured, Policy, Render, Role,
    Task, Verdict, seed,
};
use serde_json::json;

use super::taught::{Answer, Asked, Split, Taught};
use crate::cli::evaluate::names;
use crate::cli::pairs::{Keep, Reasoning, TeachArgs};
use crate::cmd::judge::load;
use crate::cmd::sample;
use crate::failure::{Failure, Status};
use crate::judging::Judging;
use crate::models;
use crate::output::{complain, count, say, say_json};
use crate::progress::Progress;
use crate::settings;
use crate::stop::Stop;

pub(super) fn run(arguments: &TeachArgs) -> Result<Status, Failure> {
    let tasks = tasks(&arguments.task)?;
    let split = Split::of(
        tasks.keys().cloned(),
        arguments.split_seed,
        arguments.held_out,
    );
    if split.train.is_empty() {
        return Err(
            Failure::user("no task is left to teach").hint("hold fewer back with --held-out")
        );
    }
    let stop = Stop::listen()?;
    let mut policy = sample::open(&arguments.who, !arguments.json, &stop)?;
    let judging = Judging::start(settings::own()?, stop.clone())?;
    let asked = Asked {
        teacher: policy.capabilities().model,
        sampling: format!("{:?}", sample::sampling(&arguments.draw)),
        tasks: tasks
            .iter()
            .map(|(name, task)| (name.clone(), task.hash.clone()))
            .collect(),
        machine: classes(&judging, &tasks),
    };
    let mut lessons = Lessons {
        arguments,
        judging,
        taught: Taught::open(&arguments.out, &asked, &split)?,
        stop,
    };
    let total = split.train.len() * arguments.count as usize;
    let progress = Progress::answers(total, !arguments.json);
    progress.answered(lessons.taught.answers.len().min(total));
    let mut spent = false;
    for name in &split.train {
        spent = !lessons.teach(policy.as_mut(), &tasks[name], &progress)?;
        if spent || lessons.stop.asked() {
            break;
        }
    }
    drop(progress);
    if lessons.stop.asked() {
        return Ok(Status::Interrupted);
    }
    lessons.finish(&tasks, &split, spent)
}

/// The named tasks, each with its name in the task's own file.
fn tasks(given: &[String]) -> Result<BTreeMap<String, Arc<Task>>, Failure> {
    let mut found = BTreeMap::new();
    for name in names(given) {
        let language = match name {
            "all-c" => Some(Language::C),
            "all-cuda" => Some(Language::Cuda),
            _ => None,
        };
        let all: Vec<&str> = match language {
            Some(_) => shipped().collect(),
            None => vec![name],
        };
        for name in all {
            let task = load(name)?;
            if language.is_none_or(|language| language == task.spec.language) {
                found.insert(task.spec.name.clone(), Arc::new(task));
            }
        }
    }
    Ok(found)
}

/// The machine classes that judge the tasks, one for each language.
fn classes(judging: &Judging, tasks: &BTreeMap<String, Arc<Task>>) -> String {
    let class = |task: &Arc<Task>| judging.facts_of(task.spec.language).class;
    let classes: BTreeSet<String> = tasks.values().map(class).collect();
    classes.into_iter().collect::<Vec<_>>().join(" ")
}

struct Lessons<'a> {
    arguments: &'a TeachArgs,
    judging: Judging,
    taught: Taught,
    stop: Stop,
}

/// Answers that are asked for at once, so that a kill loses few.
const AT_ONCE: u32 = 8;

impl Lessons<'_> {
    /// The prompt: the task's statement and prototype, with nothing to start from.
    fn chat(&self, task: &Task) -> Chat {
        let prose = Prose {
            wording: Wording::default(),
            begin: false,
            device: self.judging.facts_of(task.spec.language).device,
        };
        let mut chat = prose.chat(&Ask {
            task,
            role: Role::Explore,
            stage: None,
            variant: 0,
            parent: None,
            beside: &[],
            profile: None,
        });
        let signature = hotloop_flow::language::signature(task.spec.language, &task.spec.interface);
        if let Some(last) = chat.messages.last_mut()
            && !last.content.contains(&signature)
        {
            let fence = task.spec.language.fence();
            let asked = format!(
                "Define this function:

```{fence}
{signature};
```"
            );
            last.content.extend([
                "

", &asked,
            ]);
        }
        chat
    }

    /// Asks and judges what is missing of a task. Returns false if the budget is spent.
    fn teach(
        &mut self,
        policy: &mut dyn Policy,
        task: &Arc<Task>,
        progress: &Progress,
    ) -> Result<bool, Failure> {
        let name = &task.spec.name;
        let chat = self.chat(task);
        let mut seed_s = None;
        loop {
            let done = self.taught.count(name);
            if done >= self.arguments.count || self.stop.asked() {
                return Ok(true);
            }
            let budget = self.arguments.budget_tokens;
            if budget.is_some_and(|budget| self.taught.tokens() >= budget) {
                return Ok(false);
            }
            let number = AT_ONCE.min(self.arguments.count - done);
            let mut sampling = sample::sampling(&self.arguments.draw);
            sampling.seed = sampling.seed.wrapping_add(u64::from(done));
            let completions = match policy.sample(std::slice::from_ref(&chat), number, &sampling) {
                Err(_) if self.stop.asked() => return Ok(true),
                drawn => drawn.map_err(|error| models::policy_failure(&error))?,
            };
            if seed_s.is_none() {
                seed_s = self.seed(task)?;
            }
            let judged = self.judge(task, &completions)?;
            if self.stop.asked() {
                return Ok(true);
            }
            let answers = completions.iter().zip(judged).enumerate();
            let answers: Vec<Answer> = answers
                .map(|(at, (completion, judged))| {
                    told(name, done + at as u32, completion, judged, seed_s)
                })
                .collect();
            progress.answered(answers.len());
            for answer in answers.iter().filter(|answer| answer.verdict.is_none()) {
                progress.aside(|| complain(&format!("{name}: {}", answer.detail)));
            }
            self.taught.add(answers)?;
        }
    }

    /// The seconds of the task's seed.
    fn seed(&mut self, task: &Arc<Task>) -> Result<Option<f64>, Failure> {
        let job = seed::job(JobId(0), task).map_err(|error| Failure::user(error.to_string()))?;
        let judgement = self.judging.judge_one(job)?;
        let verdict = judgement.map(|judgement| judgement.verdict);
        Ok(verdict.and_then(|verdict| Some(verdict.correct()?.seconds)))
    }

    /// The candidates in completions, with their verdicts.
    fn judge(
        &mut self,
        task: &Arc<Task>,
        completions: &[Completion],
    ) -> Result<Vec<Judged>, Failure> {
        let mut found: Vec<Judged> = completions
            .iter()
            .map(|completion| Judged::of(completion, task))
            .collect();
        let jobs: Vec<Job> = found
            .iter()
            .enumerate()
            .filter_map(|(at, judged)| {
                Some(Job {
                    id: JobId(at as u64 + 1),
                    task: Arc::clone(task),
                    candidate: judged.candidate.clone()?,
                    stage: None,
                })
            })
            .collect();
        self.judging.judge(
            jobs,
            &Progress::hidden(),
            |id, judged: Result<Judgement, BenchError>| {
                let verdict = judged.map(|judgement| judgement.verdict);
                if let Some(place) = found.get_mut(id.0 as usize - 1) {
                    place.result = Some(verdict);
                }
            },
        )?;
        Ok(found)
    }

    /// Writes the chats and what there is to know about them.
    fn finish(
        &self,
        tasks: &BTreeMap<String, Arc<Task>>,
        split: &Split,
        spent: bool,
    ) -> Result<Status, Failure> {
        let mut lines = String::new();
        let mut chats = 0;
        for name in &split.train {
            for answer in self.chosen(name) {
                let mut messages = self.chat(&tasks[name]).messages;
                let content = match self.arguments.reasoning {
                    Reasoning::Keep => answer.text.as_str(),
                    Reasoning::Drop => reasoning::answer(&answer.text),
                };
                messages.push(Message {
                    role: Speaker::Assistant,
                    content: content.trim_end().to_owned(),
                });
                let line = json!({
                    "messages": messages, "task": name, "verdict": answer.verdict,
                    "seconds": answer.seconds, "speedup": answer.speedup,
                });
                lines.push_str(&line.to_string());
                lines.push('\n');
                chats += 1;
            }
        }
        self.taught.write("chats.jsonl", &lines)?;
        let answers = &self.taught.answers;
        let of = |label: Label| {
            answers
                .iter()
                .filter(|answer| answer.verdict == Some(label))
                .count()
        };
        let verdicts: BTreeMap<&str, usize> = Label::ALL
            .iter()
            .map(|label| (label.name(), of(*label)))
            .collect();
        let summary = json!({
            "tasks": split.train.len(), "held_out": split.held_out, "answers": answers.len(), "chats": chats,
            "tokens": self.taught.tokens(), "tokens_estimated": answers.iter().any(|answer| answer.estimated),
            "verdicts": verdicts, "masked": answers.iter().filter(|answer| answer.verdict.is_none()).count(),
            "budget_spent": spent,
        });
        self.taught
            .write("summary.json", &format!("{summary:#}\n"))?;
        if self.arguments.json {
            say_json(&summary);
        } else {
            let end = if spent { "; the budget is spent" } else { "" };
            say(&format!(
                "{} from {} to {}, {} correct, {} tokens{end}: {}",
                count(chats, "chat"),
                count(answers.len(), "answer"),
                count(split.train.len(), "task"),
                of(Label::Correct),
                self.taught.tokens(),
                self.arguments.out.display()
            ));
        }
        Ok(Status::Fine)
    }

    /// The answers of a task that are learned: each program once, the fastest of them.
    fn chosen(&self, task: &str) -> Vec<&Answer> {
        let is_kept = |answer: &&Answer| match self.arguments.keep {
            Keep::Correct => answer.verdict == Some(Label::Correct),
            Keep::All => answer.verdict.is_some() && answer.program.is_some(),
        };
        let mut found: Vec<&Answer> = (self.taught.answers.iter())
            .filter(|answer| answer.task == task)
            .filter(is_kept)
            .collect();
        found.sort_by(|a, b| {
            let rank = |answer: &Answer| answer.verdict != Some(Label::Correct);
            let seconds = |answer: &Answer| answer.seconds.unwrap_or(f64::INFINITY);
            rank(a)
                .cmp(&rank(b))
                .then(seconds(a).total_cmp(&seconds(b)))
        });
        let mut seen = BTreeSet::new();
        found.retain(|answer| seen.insert(answer.program.as_deref()));
        found.truncate(self.arguments.best as usize);
        found
    }
}

/// A completion's candidate and what became of it; no result if the bench was stopped.
struct Judged {
    candidate: Option<Candidate>,
    result: Option<Result<Verdict, BenchError>>,
}

impl Judged {
    /// The candidate in a completion. What was cut off at the limit of tokens is no answer.
    fn of(completion: &Completion, task: &Task) -> Self {
        let found = match completion.ending {
            Ending::Length => Err("the answer was cut off at the token limit".to_owned()),
            Ending::Stop => {
                Candidate::extract(&completion.text, task).map_err(|malformed| malformed.why)
            }
        };
        match found {
            Ok(candidate) => Self {
                candidate: Some(candidate),
                result: None,
            },
            Err(why) => Self {
                candidate: None,
                result: Some(Ok(Verdict::Malformed { why })),
            },
        }
    }
}

fn told(
    task: &str,
    number: u32,
    completion: &Completion,
    judged: Judged,
    seed_s: Option<f64>,
) -> Answer {
    let (verdict, failure) = match judged.result {
        Some(Ok(verdict)) => (Some(verdict), String::new()),
        Some(Err(error)) => (None, error.what),
        None => (None, "it was not judged".to_owned()),
    };
    let seconds = verdict
        .as_ref()
        .and_then(Verdict::correct)
        .map(|measured: &Measured| measured.seconds);
    let estimated = completion.tokens.is_empty();
    let tokens = if estimated {
        completion.text.len().div_ceil(4)
    } else {
        completion.tokens.len()
    };
    Answer {
        task: task.to_owned(),
        number,
        text: completion.text.clone(),
        tokens: tokens as u64,
        estimated,
        detail: verdict.as_ref().map_or(failure, Verdict::detail),
        verdict: verdict.as_ref().map(Verdict::label),
        program: judged.candidate.map(|candidate| {
            let hash = blake3::hash(candidate.normalised().as_bytes());
            hash.to_hex().to_string()
        }),
        seconds,
        speedup: seed_s
            .zip(seconds)
            .map(|(seed_s, seconds)| seed_s / seconds),
    }
}
