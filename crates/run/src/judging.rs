//! From candidates to verdicts, through a bench that may itself fail.
//!
//! After a machine failure the candidate is retried and finally masked. The failure never becomes a
//! reward. If the machine fails on most candidates, something is broken, and the run waits for a
//! person.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use hotloop_flow::{BenchError, Job, JobId, Judgement, Stage, Task, seed};

use crate::ctx::Ctx;
use crate::event::{Asked, Event, Made, Place};
use crate::interrupt::Interrupt;

/// Retries after a machine failure before the member is masked.
const RETRIES: u32 = 2;
/// Timeout of one wait for a reply. It is short because someone may ask the run to stop.
const PATIENCE: Duration = Duration::from_millis(100);
/// The bench is considered dead if it does not reply for this long.
const SILENCE_S: f64 = 600.0;
/// This many failures in a row are a storm, whatever the group's size.
const STORM_IN_A_ROW: usize = 24;
/// Fewer failures than this are never a storm.
const STORM_LEAST: usize = 4;

/// A candidate to be judged.
pub(crate) struct Entry {
    pub(crate) made: Made,
    pub(crate) task: Arc<Task>,
    /// The stage whose rules apply.
    pub(crate) stage: Option<Stage>,
}

/// Candidates that are being judged, each with the caller's key and its number of retries.
pub(crate) struct Batch<K> {
    waiting: BTreeMap<JobId, (K, Entry, u32)>,
    submitted: usize,
}

/// A candidate's judgement, or the machine's failure.
pub(crate) type Judged = Result<Judgement, BenchError>;

impl<K: Copy> Batch<K> {
    /// Submits candidates. Malformed answers need no bench and must not be among them.
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

    /// Submits a group. Its candidates are compared with each other, so one machine judges them
    /// all.
    pub(crate) fn add(
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

    /// Waits for all verdicts and passes each one to `each` as it arrives. Failures come last, once
    /// it is clear that they are no storm.
    pub(crate) fn gather(
        mut self,
        ctx: &mut Ctx<'_>,
        mut each: impl FnMut(&mut Ctx<'_>, K, Judged) -> Result<(), Interrupt>,
    ) -> Result<(), Interrupt> {
        let mut failed: Vec<(K, BenchError)> = Vec::new();
        // Failures in a row, and the candidates that failed, whether retried or not.
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
            // A reply to a job of an earlier batch is ignored.
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

    /// Cancels the jobs that are still being judged.
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

/// Whether the machine can still judge the task's seed. If not, the machine is at fault and not the
/// candidates. Before the seed was first judged, this is unknown.
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

/// Submits the candidates of a step that are not judged yet.
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

/// Waits for a step's verdicts, records them, and returns the seconds that the bench worked.
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
