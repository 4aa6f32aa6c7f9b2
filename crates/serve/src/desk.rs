//! The desk between many requests and one bench.
//!
//! One thread owns the bench, which is neither async nor shared. Requests put jobs on the [`Board`]
//! and wait for their outcome. A bench that fails is restarted.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hotloop_flow::{
    Bench, BenchError, Candidate, Job, JobId, JobKey, Judgement, MachineFacts, Stage, Task,
};

use crate::board::{Board, Full, Key, Outcome, Ticket};
use crate::fault::Fault;
use crate::metrics::{Look, Metrics};
use crate::notice::{Listener, Notice};
use crate::settings::Limits;

/// Makes a bench. It is called on the thread that owns the bench, and again after a failure.
pub type Factory = Box<dyn FnMut() -> Result<Box<dyn Bench>, BenchError> + Send>;

/// What makes the benches of a service.
pub struct Benches {
    /// The bench for candidates of tasks.
    pub tasks: Factory,
    /// The bench for modules, where the settings name problems.
    pub modules: Option<Factory>,
}

impl From<Factory> for Benches {
    fn from(tasks: Factory) -> Self {
        let modules = None;
        Self { tasks, modules }
    }
}

/// Timeout of one wait for the bench. It is short because new jobs may arrive.
const GLANCE: Duration = Duration::from_millis(10);
/// How often old verdicts are swept out.
const SWEEP: Duration = Duration::from_secs(1);
/// Pause before a failed bench is restarted.
const REST: Duration = Duration::from_secs(2);

/// Where requests meet the bench.
pub(crate) struct Desk {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    metrics: Arc<Metrics>,
    listener: Listener,
}

struct State {
    board: Board,
    /// The machine while the bench runs, otherwise the reason why it does not.
    bench: Result<MachineFacts, BenchError>,
    /// The class of the machine that the bench ran on last.
    class: Option<String>,
    changes: u64,
    closed: bool,
}

impl State {
    /// Records that the bench judges on this machine. Timings are comparable only within one class,
    /// so verdicts of another class are dropped.
    fn ready(&mut self, facts: MachineFacts) {
        if self
            .class
            .as_ref()
            .is_some_and(|class| *class != facts.class)
        {
            self.changes += 1;
            self.board.forget();
        }
        self.class = Some(facts.class.clone());
        self.bench = Ok(facts);
    }
}

/// A candidate to judge.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'a> {
    pub(crate) task: &'a Arc<Task>,
    pub(crate) candidate: &'a Candidate,
    pub(crate) stage: Option<Stage>,
    /// The name under which it is judged separately from all others.
    pub(crate) apart: Option<&'a str>,
}

fn key(wanted: &Wanted<'_>) -> Key {
    let Wanted {
        task,
        candidate,
        stage,
        apart,
    } = wanted;
    Key {
        job: JobKey {
            task: task.hash.clone(),
            candidate: candidate.hash().to_owned(),
            stage: *stage,
        },
        apart: apart.map(|name| blake3::hash(name.as_bytes())),
    }
}

impl Desk {
    /// Starts the thread that owns the bench.
    pub(crate) fn start(
        limits: Limits,
        factory: Factory,
        metrics: Arc<Metrics>,
        listener: Listener,
    ) -> Self {
        let state = State {
            board: Board::new(limits),
            bench: Err(BenchError::machine("the bench is starting")),
            class: None,
            changes: 0,
            closed: false,
        };
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            changed: Condvar::new(),
            metrics,
            listener,
        });
        let own = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("bench".to_owned())
            .spawn(move || own.work(factory))
            .ok();
        Self { shared, thread }
    }

    /// Joins or starts the judging of candidates that are compared with each other. New ones among
    /// them are one `submit` of the bench, so one worker of a fleet judges them.
    pub(crate) fn ask<'a>(
        &self,
        group: impl IntoIterator<Item = Wanted<'a>>,
    ) -> Result<Vec<Ticket>, Full> {
        let group = group.into_iter().map(|wanted| {
            let job = Job {
                id: JobId(0),
                task: Arc::clone(wanted.task),
                candidate: wanted.candidate.clone(),
                stage: wanted.stage,
            };
            (key(&wanted), job)
        });
        let group = group.collect();
        let tickets = self.shared.lock().board.attach(group);
        self.shared.changed.notify_all();
        tickets
    }

    /// Forgets a kept judgement, so that the next who asks gets a new one.
    pub(crate) fn forget(&self, wanted: &Wanted<'_>, judgement: &Arc<Judgement>) {
        self.shared.lock().board.forget_one(&key(wanted), judgement);
    }

    /// How often the bench came back on another machine class. While this number stays the same,
    /// all verdicts are of one class.
    pub(crate) fn changes(&self) -> u64 {
        self.shared.lock().changes
    }

    /// Refuses a batch if the bench changed its machine class in the middle of it.
    /// `since` is the value of [`Self::changes`] before the first part.
    pub(crate) fn one_class(&self, since: u64) -> Result<(), Fault> {
        if self.changes() == since {
            return Ok(());
        }
        let what = "the bench came back on another class of machine meanwhile, and timings do not \
            compare across classes";
        Err(Fault::later(what, Duration::from_secs(1))
            .hint("send the same request again: all of it is judged there"))
    }

    /// The state of bench and board, for metrics.
    pub(crate) fn look(&self) -> Look {
        let state = self.shared.lock();
        Look {
            bench: state.bench.clone(),
            waiting: state.board.waiting(),
            kept: state.board.kept(),
            attached: state.board.attached,
        }
    }
}

/// Waits for an outcome until `deadline`; `None` if it has not come by then.
pub(crate) async fn outcome(mut ticket: Ticket, deadline: tokio::time::Instant) -> Option<Outcome> {
    let told = tokio::time::timeout_at(deadline, ticket.wait_for(Option::is_some))
        .await
        .ok()?;
    match told {
        Ok(told) => told.clone(),
        Err(_) => Some(Err(BenchError::machine("the service is stopping"))),
    }
}

/// A panic, as the bench's failure. What panicked has already reported it.
fn bug(panic: &(dyn Any + Send)) -> BenchError {
    let said = panic.downcast_ref::<&str>().copied();
    let said = said.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    BenchError::machine(format!(
        "a bug in hotloop ended the bench, which starts again: {}",
        said.unwrap_or("no message")
    ))
}

impl Drop for Desk {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has already reported it.
            drop(thread.join());
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // The board stays consistent, whatever a panicking thread was doing.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The main loop of the thread that owns the bench.
    fn work(&self, mut factory: Factory) {
        while !self.lock().closed {
            // A bug must not leave requests waiting for a bench that is gone.
            let worked = catch_unwind(AssertUnwindSafe(|| {
                let mut bench = factory()?;
                let facts = bench.facts();
                (self.listener)(&Notice::BenchReady {
                    machine: facts.device.name().to_owned(),
                });
                self.lock().ready(facts);
                self.judge(bench.as_mut())
            }));
            let failed = match worked {
                Ok(Ok(())) => return,
                Ok(Err(error)) => error,
                Err(panic) => bug(panic.as_ref()),
            };
            (self.listener)(&Notice::BenchFailed {
                what: failed.what.clone(),
                hint: failed.hint.clone(),
            });
            let mut state = self.lock();
            state.board.fail_all(&failed);
            state.bench = Err(failed);
            self.rest(state);
        }
    }

    /// Waits before a failed bench is restarted. Requests fail at once meanwhile, because the
    /// machine is at fault and waiting would not help.
    fn rest(&self, mut state: MutexGuard<'_, State>) {
        let until = Instant::now() + REST;
        while !state.closed && Instant::now() < until {
            let left = until.saturating_duration_since(Instant::now());
            state = self
                .changed
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
            if let Err(error) = state.bench.clone() {
                state.board.fail_all(&error);
            }
        }
    }

    /// Judges until the service stops or the bench fails.
    fn judge(&self, bench: &mut dyn Bench) -> Result<(), BenchError> {
        let mut swept = Instant::now();
        loop {
            let groups = {
                let mut state = self.lock();
                while !state.closed && state.board.waiting() == 0 {
                    let (next, timeout) = self
                        .changed
                        .wait_timeout(state, SWEEP)
                        .unwrap_or_else(PoisonError::into_inner);
                    state = next;
                    if timeout.timed_out() {
                        break;
                    }
                }
                if state.closed {
                    return Ok(());
                }
                state.board.take()
            };
            for group in groups {
                bench.submit(group)?;
            }
            if self.lock().board.waiting() > 0
                && let Some(reply) = bench.next(GLANCE)?
            {
                self.take_in(reply);
                // Takes all replies that are already there.
                while let Some(reply) = bench.next(Duration::ZERO)? {
                    self.take_in(reply);
                }
            }
            if swept.elapsed() >= SWEEP {
                swept = Instant::now();
                let abandoned = self.lock().board.sweep(swept);
                if !abandoned.is_empty() {
                    bench.cancel(&abandoned);
                }
            }
        }
    }

    fn take_in(&self, reply: hotloop_flow::Reply) {
        let judged = reply.judged.and_then(Judgement::believable);
        if let Ok(judgement) = &judged {
            self.metrics.judged(judgement);
        }
        let failed = self.lock().board.reply(reply.id, judged, Instant::now());
        if let Some(error) = failed {
            self.metrics.failed();
            (self.listener)(&Notice::JudgingFailed { what: error.what });
        }
    }
}
