//! The bench over remote machines.
//!
//! The jobs of one `submit` are a group and go to one worker. A job's id is a hash of task, source,
//! settings, machine class and attempt, so a job that is submitted again attaches to the one in
//! progress. Once its reply has been taken, the next submission is a new attempt.
//!
//! The server's work queue holds all outstanding work. A group that left it without a reply is sent
//! again. A group that was delivered too often is the machine's failure.

mod listen;
mod missing;
mod open;
mod outstanding;
mod scope;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use async_nats::jetstream::message::Acker;
use futures_util::StreamExt;
use hotloop_flow::{Bench, BenchError, Job, JobId, JobKey, Judgement, MachineFacts, Remedy, Reply};
use tokio::runtime::Runtime;

use crate::Log;
use crate::link::{Link, is_missing, with_id};
use crate::runtime::nonce;
use crate::wire::{self, Beat, GROUP_BYTES, GROUP_JOBS, Group, GroupReply, Judged, Terms};
pub use open::Opening;
use outstanding::{Event, IDS, Outstanding};

/// How long the server may be unreachable while jobs are sent to it.
const PATIENCE: Duration = Duration::from_mins(2);
/// Number of groups that are sent at once.
const SENDING: usize = 16;
/// How often a job is sent again after its group vanished without a reply.
const RESENDS: u32 = 2;

/// A bench over a fleet of workers.
pub struct FleetBench {
    runtime: Option<Runtime>,
    link: Link,
    scope: String,
    terms: Terms,
    spread: bool,
    class: String,
    facts: MachineFacts,
    /// How often each candidate's reply was taken.
    attempts: HashMap<JobKey, u32>,
    /// Jobs without a reply, by id.
    waiting: HashMap<String, Waiting>,
    /// Replies to an earlier coordinator of this scope that it did not take.
    early: HashMap<String, (Judged, Arc<Acker>)>,
    /// Replies for the caller, and the stored message of each.
    ready: VecDeque<(Reply, Option<Arc<Acker>>)>,
    open: Outstanding,
    events: Receiver<Event>,
    log: Log,
}

/// A job that waits for its reply, and the ids that the caller gave it.
struct Waiting {
    key: JobKey,
    job: Job,
    askers: Vec<(JobId, Instant)>,
    resent: u32,
}

impl FleetBench {
    /// Jobs whose replies have not been taken yet.
    pub fn pending(&self) -> usize {
        self.ready.len()
            + self
                .waiting
                .values()
                .map(|waiting| waiting.askers.len())
                .sum::<usize>()
    }

    /// The workers that send beats.
    pub fn workers(&self) -> Result<Vec<Beat>, BenchError> {
        self.block_on(self.link.beats())
    }

    fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime
            .as_ref()
            .expect("it is only taken by drop")
            .block_on(future)
    }

    fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) {
        self.runtime
            .as_ref()
            .expect("it is only taken by drop")
            .spawn(future);
    }

    fn id(&self, key: &JobKey) -> String {
        let attempt = self.attempts.get(key).copied().unwrap_or(0).to_string();
        let terms = serde_json::to_string(&self.terms).unwrap_or_default();
        let stage = key
            .stage
            .map_or(String::new(), |stage| stage.number().to_string());
        wire::hash(&[
            &self.scope,
            &key.task,
            &key.candidate,
            &stage,
            &terms,
            &self.class,
            &attempt,
        ])
    }

    /// Sends jobs to the server, in groups that fit into messages.
    fn send(&mut self, ids: &[String], again: bool) -> Result<(), BenchError> {
        let mut groups: Vec<(Vec<String>, usize)> = Vec::new();
        for id in ids {
            let bytes = self
                .waiting
                .get(id)
                .map_or(0, |waiting| waiting.job.candidate.source().len());
            match groups.last_mut() {
                Some((group, sum))
                    if !self.spread && group.len() < GROUP_JOBS && *sum + bytes <= GROUP_BYTES =>
                {
                    group.push(id.clone());
                    *sum += bytes;
                }
                _ => groups.push((vec![id.clone()], bytes)),
            }
        }
        let messages: Vec<(Vec<String>, Vec<u8>)> = groups
            .into_iter()
            .map(|(ids, _)| {
                let jobs = ids
                    .iter()
                    .filter_map(|id| Some((id.as_str(), &self.waiting.get(id)?.job)));
                let bytes = Group::new(&self.scope, &self.terms, jobs).bytes();
                (ids, bytes)
            })
            .collect();
        let subject = wire::jobs_subject(&self.class, &self.scope);
        let (link, open) = (&self.link, &self.open);
        let sending = futures_util::stream::iter(messages)
            .map(|(ids, bytes)| publish(link, &subject, open, ids, bytes, again))
            .buffer_unordered(SENDING)
            .collect::<Vec<Result<(), BenchError>>>();
        self.block_on(sending).into_iter().collect()
    }

    fn handle(&mut self, event: Event) -> Result<(), BenchError> {
        match event {
            Event::Reply(reply, acker, at) => self.take(reply, &acker, at),
            Event::Lost {
                sequence,
                deliveries,
            } => self.lose(sequence, deliveries),
            Event::Gone { sequence } => self.resend(sequence)?,
            Event::Over(error) => return Err(error),
        }
        Ok(())
    }

    /// Accepts a reply if it answers one of our groups, with each of its jobs once.
    fn take(&mut self, reply: GroupReply, acker: &Arc<Acker>, at: Instant) {
        let known = {
            let mut groups = self.open.lock();
            groups.heard = Some(Instant::now());
            groups.by_sequence.get(&reply.sequence).cloned()
        };
        let Some(mut wanted) = known else {
            // The job was cancelled or answered already. A reply for an earlier coordinator stays
            // until its job is submitted.
            if !reply
                .replies
                .iter()
                .any(|one| self.early.contains_key(&one.id))
            {
                self.acknowledge(acker);
            }
            return;
        };
        let mut given: Vec<&str> = reply.replies.iter().map(|one| one.id.as_str()).collect();
        wanted.sort_unstable();
        given.sort_unstable();
        if given != wanted {
            (self.log)(
                &format!(
                    "refused: the reply of worker {} to group {} answers other jobs than were \
                     asked",
                    reply.worker, reply.sequence
                ),
                &[],
            );
            self.acknowledge(acker);
            return;
        }
        self.open.lock().by_sequence.remove(&reply.sequence);
        for one in reply.replies {
            self.finish(&one.id, &one.judged.into(), at, Some(acker));
        }
        self.release(acker);
    }

    /// Ends a job at the time `at`, which may be long ago if nobody has asked since.
    fn finish(
        &mut self,
        id: &str,
        judged: &Result<Judgement, BenchError>,
        at: Instant,
        acker: Option<&Arc<Acker>>,
    ) {
        let Some(waiting) = self.waiting.remove(id) else {
            return;
        };
        *self.attempts.entry(waiting.key).or_default() += 1;
        for (id, since) in waiting.askers {
            let mut judged = judged.clone();
            if let Ok(judgement) = &mut judged {
                judgement.seconds.total = at.saturating_duration_since(since).as_secs_f64();
            }
            self.ready.push_back((Reply { id, judged }, acker.cloned()));
        }
    }

    fn lose(&mut self, sequence: u64, deliveries: u64) {
        let Some(ids) = self.open.lock().by_sequence.remove(&sequence) else {
            return;
        };
        let error = BenchError::machine(format!(
            "a group of {} was given to workers {deliveries} times, and none answered",
            hotloop_flow::count(ids.len(), "candidate")
        ))
        .hint("look at the fleet's workers")
        .remedies(&[Remedy::FleetStatus]);
        for id in &ids {
            self.finish(id, &Err(error.clone()), Instant::now(), None);
        }
        self.forget(sequence);
    }

    fn resend(&mut self, sequence: u64) -> Result<(), BenchError> {
        let Some(ids) = self.open.lock().by_sequence.remove(&sequence) else {
            return Ok(());
        };
        let mut again = Vec::new();
        for id in ids {
            let Some(waiting) = self.waiting.get_mut(&id) else {
                continue;
            };
            waiting.resent += 1;
            if waiting.resent > RESENDS {
                self.finish(
                    &id,
                    &Err(BenchError::machine(
                        "the fleet took the candidate and gave no verdict, three times",
                    )),
                    Instant::now(),
                    None,
                );
            } else {
                again.push(id);
            }
        }
        if !again.is_empty() {
            (self.log)(
                &format!(
                    "group {sequence} was taken without an answer; its candidates are sent again"
                ),
                &[],
            );
            self.send(&again, true)?;
        }
        Ok(())
    }

    /// Removes a message from the server's store once none of its replies is needed here any more.
    /// A coordinator that is killed before that finds it again.
    fn release(&self, acker: &Arc<Acker>) {
        let waiting = self.ready.iter().filter_map(|(_, other)| other.as_ref());
        if !waiting
            .chain(self.early.values().map(|(_, other)| other))
            .any(|other| Arc::ptr_eq(other, acker))
        {
            self.acknowledge(acker);
        }
    }

    fn acknowledge(&self, acker: &Arc<Acker>) {
        let acker = Arc::clone(acker);
        // If the acknowledgement is lost, the reply comes again and is recognised.
        self.spawn(async move { drop(acker.ack().await) });
    }

    /// Takes a group out of the queue.
    fn forget(&self, sequence: u64) {
        let jobs = self.link.jobs.clone();
        self.spawn(async move { drop(jobs.delete_message(sequence).await) });
    }
}

/// Sends one group. If the server already has it, the coordinator waits for it. If the server had
/// it and it is gone, it is sent under another name.
async fn publish(
    link: &Link,
    subject: &str,
    open: &Outstanding,
    ids: Vec<String>,
    bytes: Vec<u8>,
    again: bool,
) -> Result<(), BenchError> {
    let list = ids.join(",");
    let plain = wire::hash(&[&list]);
    let other = || wire::hash(&[&list, &nonce()]);
    let mut name = if again { other() } else { plain };
    loop {
        let mut headers = with_id(&name);
        headers.insert(IDS, list.as_str());
        headers.insert(wire::COUNT, ids.len().to_string().as_str());
        let ack = link
            .publish(subject, headers, bytes.clone(), PATIENCE)
            .await?;
        let is_gone = ack.duplicate
            && matches!(link.jobs.get_raw_message(ack.sequence).await, Err(error) if is_missing(&error));
        if !is_gone {
            open.lock().by_sequence.insert(ack.sequence, ids);
            return Ok(());
        }
        name = other();
    }
}

impl Bench for FleetBench {
    fn submit(&mut self, jobs: Vec<Job>) -> Result<(), BenchError> {
        jobs.iter().try_for_each(Job::check)?;
        let mut new = Vec::new();
        let mut told = Vec::new();
        for job in jobs {
            let key = job.key();
            let id = self.id(&key);
            let asker = (job.id, Instant::now());
            if let Some(waiting) = self.waiting.get_mut(&id) {
                waiting.askers.push(asker);
                continue;
            }
            self.waiting.insert(
                id.clone(),
                Waiting {
                    key,
                    job,
                    askers: vec![asker],
                    resent: 0,
                },
            );
            if self.early.contains_key(&id) {
                told.push(id);
            } else if !self.open.holds(&id) {
                new.push(id);
            }
        }
        for id in told {
            if let Some((judged, acker)) = self.early.remove(&id) {
                self.finish(&id, &judged.into(), Instant::now(), Some(&acker));
            }
        }
        let sent = self.send(&new, false);
        if sent.is_err() {
            for id in new.iter().filter(|id| !self.open.holds(id)) {
                self.waiting.remove(id);
            }
        }
        sent
    }

    fn next(&mut self, timeout: Duration) -> Result<Option<Reply>, BenchError> {
        let deadline = Instant::now() + timeout;
        loop {
            if let Some((reply, acker)) = self.ready.pop_front() {
                if let Some(acker) = acker {
                    self.release(&acker);
                }
                return Ok(Some(reply));
            }
            match self
                .events
                .recv_timeout(deadline.saturating_duration_since(Instant::now()))
            {
                Ok(event) => self.handle(event)?,
                Err(RecvTimeoutError::Timeout) => return Ok(None),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(BenchError::machine("the fleet's listeners have ended"));
                }
            }
        }
    }

    fn cancel(&mut self, ids: &[JobId]) {
        let keep = |reply: &(Reply, Option<Arc<Acker>>)| !ids.contains(&reply.0.id);
        let ackers: Vec<Arc<Acker>> = self
            .ready
            .iter()
            .filter(|reply| !keep(reply))
            .filter_map(|(_, acker)| acker.clone())
            .collect();
        self.ready.retain(keep);
        for acker in &ackers {
            self.release(acker);
        }
        for waiting in self.waiting.values_mut() {
            waiting.askers.retain(|(id, _)| !ids.contains(id));
        }
        self.waiting.retain(|_, waiting| !waiting.askers.is_empty());
        let unwanted: Vec<u64> = {
            let mut groups = self.open.lock();
            let wanted = |ids: &Vec<String>| ids.iter().any(|id| self.waiting.contains_key(id));
            let unwanted = groups
                .by_sequence
                .iter()
                .filter(|(_, ids)| !wanted(ids))
                .map(|(at, _)| *at)
                .collect();
            groups.by_sequence.retain(|_, ids| wanted(ids));
            unwanted
        };
        for sequence in unwanted {
            self.forget(sequence);
        }
    }

    fn facts(&self) -> MachineFacts {
        self.facts.clone()
    }
}

impl Drop for FleetBench {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            if self.waiting.is_empty() && self.early.is_empty() {
                runtime.block_on(scope::close(&self.link, &self.scope));
            }
            runtime.shutdown_background();
        }
    }
}
