//! The threads of the bench: examiners in parallel, and clocks on their own cores.

use std::sync::PoisonError;
use std::time::{Duration, Instant};

use hotloop_flow::how::Estimator;
use hotloop_flow::verdict::Measured;
use hotloop_flow::{Label, Verdict};

use crate::cpu::clock::Clock;
use crate::cpu::examine::{Examination, examine};
use crate::cpu::queues::{Queues, Replies, Shared, Waiting};
use crate::cpu::slot::Slot;
use crate::ledger::{guarded, judgement};
use crate::settings::Settings;
use crate::sys;

/// The pause before candidates are timed again that met no quiet.
const RETRY_AFTER: Duration = Duration::from_millis(200);

pub(super) fn run_examiner(shared: &Shared, replies: &Replies, core: usize, index: u32) {
    let machine = &shared.machine;
    // Compilers inherit the core. A core that went offline is no reason to stop.
    drop(sys::pin(0, &[core]));
    let user = machine.user(index);
    let mut slot = Slot::new(
        &machine.settings.roles,
        vec![core],
        machine.openblas.as_ref().and_then(|b| b.forced.clone()),
    );
    let next = |queues: &mut Queues| queues.submitted.pop_front();
    while let Some((key, job)) = shared.wait(next) {
        if shared.lock().cancelled.remove(&key) {
            continue;
        }
        let (examination, examined_s) = {
            let _calm = shared
                .quiet
                .as_ref()
                .map(|quiet| quiet.read().unwrap_or_else(PoisonError::into_inner));
            // The wait for a turn is no work, and must not earn more waiting.
            let begin = sys::now();
            let examination = guarded("examining", || {
                examine(machine, &shared.preparations, &mut slot, user, &job)
            });
            (examination, sys::now() - begin)
        };
        let judged = match examination {
            Ok(Examination::Passed(examined)) => {
                let waiting = Waiting {
                    key,
                    job,
                    examined,
                    tries: 0,
                    steadiest: None,
                    run_s: 0.0,
                };
                let mut queues = shared.lock();
                queues.quiet.earn(examined_s);
                queues.examined.push_back(waiting);
                drop(queues);
                shared.changed.notify_all();
                continue;
            }
            Ok(Examination::Failed(verdict, compile)) => {
                Ok(judgement(verdict, compile, examined_s - compile))
            }
            Err(error) => Err(error),
        };
        if replies.send((key, Instant::now(), judged)).is_err() {
            return;
        }
    }
}

pub(super) fn run_clock(shared: &Shared, replies: &Replies, cores: Vec<usize>, index: u32) {
    let machine = &shared.machine;
    drop(sys::pin(0, &cores));
    // Users of clocks follow those of examiners, so that no two share a thread limit.
    let user = machine.user(200 + index);
    let forced = machine
        .openblas
        .as_ref()
        .and_then(|blas| blas.forced.clone());
    let mut clock = Clock::new(Slot::new(&machine.settings.roles, cores, forced), user);
    while shared
        .wait(|queues| (!queues.examined.is_empty()).then_some(()))
        .is_some()
    {
        let again = {
            let _alone = shared
                .quiet
                .as_ref()
                .map(|quiet| quiet.write().unwrap_or_else(PoisonError::into_inner));
            match time_all(shared, replies, &mut clock) {
                Some(again) => again,
                None => return,
            }
        };
        if !again.is_empty() {
            // Waits for the busy spell to pass, while the examiners work.
            std::thread::sleep(RETRY_AFTER);
            shared.lock().examined.extend(again);
        }
    }
}

/// Times all that wait under one lease, since taking it costs the others a pause. Returns those
/// that are to be timed again because the machine was not quiet; `None` when nobody listens.
fn time_all(shared: &Shared, replies: &Replies, clock: &mut Clock) -> Option<Vec<Waiting>> {
    let mut again = Vec::new();
    loop {
        let Some(mut waiting) = shared.lock().next_examined() else {
            return Some(again);
        };
        let begin = sys::now();
        let rounds = shared.lock().quiet.rounds(shared.machine.settings.rounds);
        let timed = guarded("timing", || {
            clock.time(&shared.machine, &waiting.job, &waiting.examined, rounds)
        });
        waiting.run_s += sys::now() - begin;
        waiting.tries += 1;
        let judged = match timed {
            Ok(verdict) => {
                let verdict = steadier(waiting.steadiest.take(), verdict);
                if is_unquiet(&verdict, &shared.machine.settings) {
                    let quiet = &mut shared.lock().quiet;
                    quiet.spend_rounds(rounds);
                    if waiting.tries < shared.machine.settings.rounds
                        && quiet.allows(RETRY_AFTER.as_secs_f64())
                    {
                        quiet.spend(RETRY_AFTER.as_secs_f64());
                        waiting.steadiest = Some(verdict);
                        again.push(waiting);
                        continue;
                    }
                }
                Ok(judgement(
                    verdict,
                    waiting.examined.compile_s,
                    waiting.run_s,
                ))
            }
            Err(error) => Err(error),
        };
        if replies.send((waiting.key, Instant::now(), judged)).is_err() {
            return None;
        }
    }
}

/// Whether to time again later, when the machine may be quieter.
fn is_unquiet(verdict: &Verdict, settings: &Settings) -> bool {
    let gated = settings.how.timing == Estimator::Gated;
    gated
        && verdict.label() == Label::Correct
        && verdict
            .measured()
            .is_some_and(|measured| !measured.timing.quiet)
}

/// The more reliable of two timings: a failure, otherwise a quiet one, otherwise the one that
/// varies least. It is never simply the faster one, because that would reward luck.
fn steadier(before: Option<Verdict>, now: Verdict) -> Verdict {
    let Some(before) = before else { return now };
    match (before.measured(), now.measured()) {
        (Some(then), Some(new)) if now.label() == Label::Correct => {
            let rank = |measured: &Measured| (!measured.timing.quiet, measured.timing.cv);
            if rank(then) < rank(new) { before } else { now }
        }
        (Some(_) | None, _) => now,
    }
}
