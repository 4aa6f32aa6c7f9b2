//! From submissions to verdicts: finds the code, asks the desk and waits.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use hotloop_flow::{Candidate, Reward, Stage, Task, Verdict};
use tokio::time::Instant;

use crate::asked::{Submission, Text};
use crate::board::{Outcome, Ticket};
use crate::catalogue::Catalogue;
use crate::desk::{Desk, Wanted, outcome};
use crate::fault::Fault;
use crate::searches::{PromptRef, Searches};
use crate::settings::Settings;
use crate::worth::Worth;

/// One candidate to judge.
pub(crate) struct Work {
    pub(crate) task: Arc<Task>,
    pub(crate) stage: Option<Stage>,
    pub(crate) prompt: Option<PromptRef>,
    pub(crate) made: Result<Candidate, String>,
    /// The group of the request's candidates for this task that it is compared with.
    pub(crate) group: Option<String>,
    /// Judged separately from all others under this name.
    pub(crate) apart: Option<String>,
}

/// Everything that judging a request needs.
pub(crate) struct Judging {
    pub(crate) catalogue: Arc<Catalogue>,
    pub(crate) desk: Arc<Desk>,
    pub(crate) worth: Arc<Worth>,
    pub(crate) searches: Searches,
    reward: Reward,
    wait: Duration,
}

impl Judging {
    pub(crate) fn new(
        settings: &Settings,
        catalogue: Arc<Catalogue>,
        desk: Arc<Desk>,
        worth: Arc<Worth>,
        searches: Searches,
    ) -> Self {
        Self {
            catalogue,
            desk,
            worth,
            searches,
            reward: settings.reward,
            wait: settings.limits.wait,
        }
    }

    /// The reward that a request asks for, or the service's own.
    pub(crate) fn reward(&self, asked: Option<Reward>) -> Reward {
        asked.unwrap_or(self.reward)
    }

    /// The deadline of a request that arrives now.
    pub(crate) fn deadline(&self, wait_s: Option<f64>) -> Instant {
        let most = self.wait.as_secs_f64();
        let wait = wait_s
            .filter(|wait| wait.is_finite())
            .map_or(self.wait, |wait| {
                Duration::from_secs_f64(wait.clamp(0.0, most))
            });
        Instant::now() + wait
    }

    /// Refuses a stage that the named task does not have, even if a batch is empty.
    pub(crate) fn check_stage(&self, task: &str, stage: Option<Stage>) -> Result<(), Fault> {
        let task = self.catalogue.find(Some(task))?;
        check_stage(&task, stage)
    }

    /// Finds the tasks, the prompts and the code of submissions.
    pub(crate) async fn make(&self, all: Vec<Submission>) -> Result<Vec<Work>, Fault> {
        let mut found = Vec::with_capacity(all.len());
        for submission in all {
            let prompt = match &submission.what.prompt_id {
                Some(id) => Some(self.searches.prompt(id).await?),
                None => None,
            };
            let task = match &prompt {
                Some(prompt) => Arc::clone(&prompt.task),
                None => self.catalogue.find(submission.what.task.as_deref())?,
            };
            check_stage(&task, submission.what.stage)?;
            found.push((submission, task, prompt));
        }
        // Lexing megabytes of a model's answers would block all other requests.
        let making = tokio::task::spawn_blocking(move || {
            let work = |(submission, task, prompt)| Work::new(submission, task, prompt);
            found.into_iter().map(work).collect()
        });
        making.await.map_err(|_| Fault::bug())
    }

    /// Judges candidates. Malformed candidates need no bench.
    pub(crate) async fn judge(
        &self,
        works: &[Work],
        deadline: Instant,
    ) -> Result<Vec<Outcome>, Fault> {
        let mut outcomes = Vec::with_capacity(works.len());
        let mut pending = 0;
        for (work, ticket) in works.iter().zip(self.tickets(works)?) {
            match ticket {
                Some(ticket) => match outcome(ticket, deadline).await {
                    Some(outcome) => outcomes.push(outcome),
                    None => pending += 1,
                },
                None => outcomes.push(Ok(Arc::new(hotloop_flow::Judgement {
                    verdict: Verdict::Malformed {
                        why: work.made.as_ref().err().cloned().unwrap_or_default(),
                    },
                    seconds: hotloop_flow::bench::Seconds::default(),
                }))),
            }
        }
        if pending > 0 {
            let of = hotloop_flow::count(works.len(), "candidate");
            return Err(later(format!("still being judged: {pending} of {of}"))
                .hint("send the same request again: it joins what is under way"));
        }
        Ok(outcomes)
    }

    /// Asks for verdicts, group by group. A malformed candidate has no ticket.
    fn tickets(&self, works: &[Work]) -> Result<Vec<Option<Ticket>>, Fault> {
        let mut groups = BTreeMap::<_, (Vec<usize>, Vec<Wanted>)>::new();
        for (index, work) in works.iter().enumerate() {
            let Work {
                task,
                stage,
                made,
                group,
                apart,
                ..
            } = work;
            let Ok(candidate) = made else { continue };
            let (places, wanted) = groups
                .entry((task.hash.as_str(), group.as_deref()))
                .or_default();
            places.push(index);
            wanted.push(Wanted {
                task,
                candidate,
                stage: *stage,
                apart: apart.as_deref(),
            });
        }
        let mut tickets: Vec<Option<Ticket>> = works.iter().map(|_| None).collect();
        for (places, wanted) in groups.into_values() {
            let asked = self
                .desk
                .ask(wanted)
                .map_err(|_| later("too many candidates are waiting".to_owned()))?;
            for (place, ticket) in places.into_iter().zip(asked) {
                tickets[place] = Some(ticket);
            }
        }
        Ok(tickets)
    }
}

fn later(what: String) -> Fault {
    Fault::later(what, std::time::Duration::from_secs(2))
}

impl Work {
    fn new(submission: Submission, task: Arc<Task>, prompt: Option<PromptRef>) -> Self {
        let begun = prompt.as_ref().map_or("", |prompt| prompt.begun.as_str());
        let made = match &submission.text {
            Text::Completion(text) if text.starts_with(begun) => Candidate::extract(text, &task),
            Text::Completion(text) => Candidate::extract(&format!("{begun}{text}"), &task),
            Text::Source(text) => Candidate::from_source(text.as_bytes(), &task),
        };
        let made = made.map_err(|malformed| malformed.why);
        let stage = prompt
            .as_ref()
            .map_or(submission.what.stage, |prompt| prompt.stage);
        let group = submission.what.group.or(submission.what.prompt_id);
        Self {
            task,
            stage,
            prompt,
            made,
            group,
            apart: submission.apart,
        }
    }
}

fn check_stage(task: &Task, stage: Option<Stage>) -> Result<(), Fault> {
    stage.map_or(Ok(()), |stage| {
        let known = task.spec.stages.get(stage);
        known
            .map(drop)
            .map_err(|error| Fault::unknown(error.to_string()))
    })
}
