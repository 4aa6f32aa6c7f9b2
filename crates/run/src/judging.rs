//! From candidates to verdicts, through a bench that may fail on its own account.
//!
//! A machine's failure is tried again and then masked; it never becomes a reward. When the
//! machine fails on most candidates something is broken, and the run waits for a person.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use hotloop_flow::{BenchError, Job, JobId, Judgement, Stage, Task, seed};

use crate::ctx::Ctx;
use crate::event::{Asked, Event, Made, Place};
use crate::interrupt::Interrupt;

/// Times that a machine's failure is tried again before the member is masked.
const RETRIES: u32 = 2;
/// How long one wait for a reply is: someone may ask the run to stop meanwhile.
const PATIENCE: Duration = Duration::from_millis(100);
/// Without any reply for so long, the bench is taken for dead.
const SILENCE_S: f64 = 600.0;
/// So many failures in a row are a storm, however large the group.
const STORM_IN_A_ROW: usize = 24;
/// Fewer failures than this are never a storm.
const STORM_LEAST: usize = 4;

/// A candidate to be judged.
pub(crate) struct Entry {
    pub(crate) made: Made,
    /// What it is to compute.
    pub(crate) task: Arc<Task>,
    /// The stage whose rules hold.
    pub(crate) stage: Option<Stage>,
}

/// Candidates that are being judged, each under a key of the caller's and with how often it was
/// tried again.
pub(crate) struct Batch<K> {
    waiting: BTreeMap<JobId, (K, Entry, u32)>,
    submitted: usize,
}

/// What came of one candidate: a verdict, or the machine's failure.
pub(crate) type Judged = Result<Judgement, BenchError>;

impl<K: Copy> Batch<K> {
    /// Submits candidates. Malformed ones need no bench and must not be among them.
    pub(crate) fn submit(
        ctx: &mut Ctx<'_>,
        entries: impl IntoIterator<Item = (K, Entry)>,
    ) -> Result<Self, Interrupt> {
        let mut batch = Self {
            waiting: BTreeMap::new(),
            submitted: 0,
        };
        batch.add(ctx, entries)?;
        Ok(batch)
    }

    /// Submits a group: candidates that are compared with each other, and so judged by one machine.
    fn add(
        &mut self,
        ctx: &mut Ctx<'_>,
        entries: impl IntoIterator<Item = (K, Entry)>,
    ) -> Result<(), Interrupt> {
        let mut jobs = Vec::new();
        for (key, entry) in entries {
            if let Some(job) = job(ctx, &entry)? {
                self.waiting.insert(job.id, (key, entry, 0));
                jobs.push(job);
            }
        }
        self.submitted += jobs.len();
        Ok(ctx.bench.submit(jobs)?)
    }

    /// Waits for all verdicts. `each` is told of them as they come; failures are told
    /// last, when it is clear that they are no storm.
    pub(crate) fn gather(
        mut self,
        ctx: &mut Ctx<'_>,
        mut each: impl FnMut(&mut Ctx<'_>, K, Judged) -> Result<(), Interrupt>,
    ) -> Result<(), Interrupt> {
        let mut failed: Vec<(K, BenchError)> = Vec::new();
        // The candidates of these failures, tried again or not, and how many they were.
        let (mut in_a_row, mut unjudged) = (0, BTreeSet::new());
        let mut heard_s = ctx.now();
        while !self.waiting.is_empty() {
            let reply = match ctx
                .check_stop()
                .and_then(|()| Ok(ctx.bench.next(PATIENCE)?))
            {
                Ok(reply) => reply,
                Err(interrupt) => return Err(self.abandon(ctx, interrupt)),
            };
            let Some(reply) = reply else {
                let silent_s = ctx.now() - heard_s;
                if silent_s > SILENCE_S {
                    return Err(self.abandon(ctx, Interrupt::Silent(silent_s)));
                }
                continue;
            };
            heard_s = ctx.now();
            // A reply to a job of an earlier batch is of no use any more.
            let Some((key, entry, tries)) = self.waiting.remove(&reply.id) else {
                continue;
            };
            match reply.judged.and_then(Judgement::believable) {
                Ok(judgement) => {
                    (in_a_row, unjudged) = (0, BTreeSet::new());
                    each(ctx, key, Ok(judgement))
                        .map_err(|interrupt| self.abandon(ctx, interrupt))?;
                }
                Err(error) => {
                    in_a_row += 1;
                    if let Made::Candidate { hash, .. } = &entry.made {
                        unjudged.insert(hash.clone());
                    }
                    if in_a_row >= STORM_IN_A_ROW {
                        let storm = Interrupt::Storm {
                            failed: unjudged.len(),
                            of: self.submitted,
                            last: error,
                        };
                        return Err(self.abandon(ctx, storm));
                    }
                    if tries < RETRIES {
                        if let Some(again) = job(ctx, &entry)? {
                            self.waiting.insert(again.id, (key, entry, tries + 1));
                            ctx.bench.submit(vec![again])?;
                        }
                    } else {
                        failed.push((key, error));
                    }
                }
            }
        }
        if let Some((_, last)) = failed.last() {
            let most = failed.len() >= STORM_LEAST && failed.len() * 2 > self.submitted;
            if most || !judges_the_seed(ctx)? {
                return Err(Interrupt::Storm {
                    failed: failed.len(),
                    of: self.submitted,
                    last: last.clone(),
                });
            }
        }
        failed
            .into_iter()
            .try_for_each(|(key, error)| each(ctx, key, Err(error)))
    }

    /// Takes back what is still being judged; the interrupt is why.
    pub(crate) fn abandon(&self, ctx: &mut Ctx<'_>, interrupt: Interrupt) -> Interrupt {
        let ids: Vec<JobId> = self.waiting.keys().copied().collect();
        ctx.bench.cancel(&ids);
        interrupt
    }
}

fn job(ctx: &mut Ctx<'_>, entry: &Entry) -> Result<Option<Job>, Interrupt> {
    let Made::Candidate { hash, .. } = &entry.made else {
        return Ok(None);
    };
    let candidate = ctx.store.candidate(hash)?;
    ctx.jobs += 1;
    Ok(Some(Job {
        id: JobId(ctx.jobs),
        task: Arc::clone(&entry.task),
        candidate,
        stage: entry.stage,
    }))
}

/// Whether the machine still judges what it judged before: if not, it is at fault and not
/// the candidates. Before the seed was judged there is nothing to tell them apart by.
fn judges_the_seed(ctx: &mut Ctx<'_>) -> Result<bool, Interrupt> {
    if ctx.state.seed.is_none() {
        return Ok(true);
    }
    ctx.jobs += 1;
    let id = JobId(ctx.jobs);
    let Ok(job) = seed::job(id, &ctx.plan.task) else {
        return Ok(true);
    };
    ctx.bench.submit(vec![job])?;
    let began = ctx.now();
    loop {
        ctx.check_stop()?;
        match ctx.bench.next(PATIENCE)? {
            Some(reply) if reply.id == id => return Ok(reply.judged.is_ok()),
            _ if ctx.now() - began > SILENCE_S => return Ok(false),
            _ => {}
        }
    }
}

/// Submits what is still unjudged of a step.
pub(crate) fn submit_step(ctx: &mut Ctx<'_>, number: u64) -> Result<Batch<Place>, Interrupt> {
    let mut groups = Vec::new();
    if let Some(open) = ctx.state.open.get(&number) {
        for (group, sampled) in (0..).zip(&open.sampled.groups) {
            let Asked { task, stage, .. } = &sampled.asked;
            let task = ctx.plan.task_of(task.as_deref());
            let mut unjudged = Vec::new();
            for (member, answer) in (0..).zip(&sampled.answers) {
                if !open.judged.contains_key(&(group, member)) {
                    let place = Place {
                        step: number,
                        group,
                        member,
                    };
                    let entry = Entry {
                        made: answer.made.clone(),
                        task: Arc::clone(task),
                        stage: *stage,
                    };
                    unjudged.push((place, entry));
                }
            }
            groups.push(unjudged);
        }
    }
    let mut batch = Batch::submit(ctx, [])?;
    groups
        .into_iter()
        .try_for_each(|group| batch.add(ctx, group))?;
    Ok(batch)
}

/// Waits for a step's verdicts and records them; gives the seconds that the bench worked.
pub(crate) fn gather_step(ctx: &mut Ctx<'_>, batch: Batch<Place>) -> Result<f64, Interrupt> {
    let mut judging = 0.0f64;
    batch.gather(ctx, |ctx, at, judged| match judged {
        Ok(judgement) => {
            judging = judging.max(judgement.seconds.total);
            ctx.record(Event::CandidateJudged { at, judgement })
        }
        Err(error) => ctx.record(Event::CandidateMasked {
            at,
            why: error.what,
        }),
    })?;
    Ok(judging)
}
