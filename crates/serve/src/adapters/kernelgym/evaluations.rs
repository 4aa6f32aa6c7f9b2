//! Evaluations by the names that clients gave them, for a while.
//!
//! A ticket keeps its job from being cancelled, so an evaluation that nobody asks for any more is
//! forgotten.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hotloop_flow::{BenchError, Task};
use tokio::time::Instant;

use crate::board::{Outcome, Ticket};
use crate::fault::Fault;
use crate::settings::Limits;

/// What an evaluation is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Content {
    task: String,
    code: blake3::Hash,
}

impl Content {
    pub(super) fn of(task: &Task, code: &str) -> Self {
        Self {
            task: task.hash.clone(),
            code: blake3::hash(code.as_bytes()),
        }
    }
}

struct Evaluation {
    content: Content,
    ticket: Ticket,
    /// When somebody asked for it last.
    seen: Instant,
}

/// Evaluations by their names.
pub(super) struct Evaluations {
    by_name: Mutex<HashMap<String, Evaluation>>,
    /// How long one is kept that nobody asks for, while it is judged and after that.
    abandon: Duration,
    keep: Duration,
    most: usize,
}

impl Evaluations {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            by_name: Mutex::default(),
            // A client that waits for the answer to a submission sends no other request meanwhile.
            abandon: limits.abandon.max(limits.wait * 2),
            keep: limits.keep,
            most: limits.kept,
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Evaluation>> {
        self.by_name.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The ticket of an evaluation that was submitted before, unless the machine failed.
    pub(super) fn known(&self, name: &str, content: &Content) -> Result<Option<Ticket>, Fault> {
        let mut all = self.lock();
        let Some(known) = all.get_mut(name) else {
            return Ok(None);
        };
        let outcome = told(&known.ticket);
        if known.content != *content {
            return match outcome {
                Some(_) => Ok(None),
                None => Err(Fault::conflict(
                    "an evaluation of this task_id is under way, of other code",
                )),
            };
        }
        known.seen = Instant::now();
        Ok((!matches!(outcome, Some(Err(_)))).then(|| known.ticket.clone()))
    }

    /// Keeps the ticket of an evaluation.
    pub(super) fn keep(
        self: &Arc<Self>,
        name: &str,
        content: Content,
        ticket: Ticket,
    ) -> Result<(), Fault> {
        let mut all = self.lock();
        if all.len() >= self.most && !all.contains_key(name) {
            let what = "too many evaluations are kept";
            return Err(Fault::later(what, Duration::from_secs(2)));
        }
        let seen = Instant::now();
        let evaluation = Evaluation {
            content,
            ticket,
            seen,
        };
        all.insert(name.to_owned(), evaluation);
        drop(all);
        let (own, name) = (Arc::clone(self), name.to_owned());
        tokio::spawn(async move {
            while let Some(then) = own.look(&name) {
                tokio::time::sleep_until(then).await;
            }
        });
        Ok(())
    }

    /// When an evaluation must be looked at again; nothing once it is forgotten.
    fn look(&self, name: &str) -> Option<Instant> {
        let mut all = self.lock();
        let known = all.get(name)?;
        let patience = match told(&known.ticket) {
            None => self.abandon,
            Some(_) => self.keep,
        };
        let then = known.seen + patience;
        if then <= Instant::now() {
            all.remove(name);
            return None;
        }
        Some(then)
    }

    /// What became of an evaluation; nothing while it is judged.
    pub(super) fn outcome(&self, name: &str) -> Result<Option<Outcome>, Fault> {
        let mut all = self.lock();
        let known = all.get_mut(name);
        let known = known.ok_or_else(|| {
            Fault::unknown("there is no such evaluation").hint("POST /evaluate begins one")
        })?;
        known.seen = Instant::now();
        Ok(told(&known.ticket))
    }
}

/// What a ticket brought.
fn told(ticket: &Ticket) -> Option<Outcome> {
    let told = ticket.borrow().clone();
    // Without a sender nothing comes any more.
    let is_lost = told.is_none() && ticket.has_changed().is_err();
    if is_lost {
        return Some(Err(BenchError::machine("the service is stopping")));
    }
    told
}
