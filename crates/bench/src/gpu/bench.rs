//! The bench for CUDA candidates on this machine: its jobs and replies.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hotloop_flow::verdict::Phase;
use hotloop_flow::{Bench, BenchError, Job, JobId, MachineFacts, Reply, Verdict};

use crate::gpu::candidate::{Examined, Planned, examine};
use crate::gpu::examine::{Answer, Examiner};
use crate::gpu::queues::{Board, Queues, Waiting};
use crate::gpu::references::References;
use crate::gpu::site::Site;
use crate::inputs::Fresh;
use crate::ledger::{Finished, Ledger, guarded, judgement};
use crate::settings::Settings;
use crate::sys;

/// The bench for CUDA. Many workers compile and plan, and one examiner runs plans on the GPU.
pub(crate) struct GpuBench {
    shared: Arc<Shared>,
    replies: Receiver<Finished>,
    ledger: Ledger,
    threads: Vec<JoinHandle<()>>,
}

struct Shared {
    site: Site,
    references: References,
    board: Board,
}

impl GpuBench {
    /// Prepares this machine and starts the threads. What is missing here fails only the jobs that
    /// need it.
    pub(crate) fn start(settings: Settings) -> Result<Self, BenchError> {
        let cores = sys::affinity(0).map_or(1, |cores| cores.len());
        let workers = match settings.jobs {
            0 => cores,
            jobs => jobs as usize,
        };
        let (site, examiner) = Site::prepare(settings)?;
        let shared = Arc::new(Shared {
            site,
            references: References::default(),
            board: Board::default(),
        });
        let (sender, replies) = channel();
        // If a later start fails, dropping this ends the threads that have started.
        let mut bench = Self {
            shared,
            replies,
            ledger: Ledger::default(),
            threads: Vec::new(),
        };
        for index in 0..workers {
            let (shared, sender) = (Arc::clone(&bench.shared), sender.clone());
            let fresh = Fresh::from_system()
                .map_err(|error| BenchError::machine(format!("/dev/urandom: {error}")))?;
            bench.threads.push(sys::spawn(move || {
                plan_all(&shared, &sender, fresh, index as u32);
            })?);
        }
        let shared = Arc::clone(&bench.shared);
        bench
            .threads
            .push(sys::spawn(move || run_all(&shared, &sender, examiner))?);
        Ok(bench)
    }

    /// Jobs whose replies have not been taken yet.
    pub(crate) fn pending(&self) -> usize {
        self.ledger.pending()
    }
}

/// Screens, compiles and plans candidates until the bench closes.
fn plan_all(shared: &Shared, replies: &Sender<Finished>, mut fresh: Fresh, index: u32) {
    let Shared {
        site,
        references,
        board,
    } = shared;
    let user = site.user(index);
    while let Some((key, job)) = board.wait(Queues::next_submitted) {
        let begin = sys::now();
        let examined = guarded("planning", || {
            examine(site, references, &mut fresh, user, &job)
        });
        let compile_s = sys::now() - begin;
        let judged = match examined {
            Ok(Examined::Planned(planned)) => {
                let waiting = Waiting {
                    bytes: planned.bytes(),
                    key,
                    planned,
                    compile_s,
                };
                board.change(|queues| queues.planned.push_back(waiting));
                continue;
            }
            Ok(Examined::Failed(verdict)) => Ok(judgement(verdict, compile_s, 0.0)),
            Err(error) => Err(error),
        };
        if replies.send((key, Instant::now(), judged)).is_err() {
            return;
        }
    }
}

/// Runs plans one after the other until the bench closes.
fn run_all(
    shared: &Shared,
    replies: &Sender<Finished>,
    mut examiner: Result<Examiner, BenchError>,
) {
    while let Some(waiting) = shared.board.wait(Queues::next_planned) {
        let begin = sys::now();
        let judged = match &mut examiner {
            Ok(examiner) => guarded("running", || run(examiner, &waiting.planned)),
            Err(error) => Err(unrun(&waiting.planned, error)),
        };
        let run_s = sys::now() - begin;
        let judged = judged.map(|verdict| judgement(verdict, waiting.compile_s, run_s));
        if replies.send((waiting.key, Instant::now(), judged)).is_err() {
            return;
        }
    }
}

fn run(examiner: &mut Examiner, planned: &Planned) -> Result<Verdict, BenchError> {
    Ok(match examiner.judge(&planned.work)? {
        Answer::Correct(measured) => Verdict::Correct(measured),
        Answer::Suspect { why, measured } => Verdict::Suspect { why, measured },
        Answer::Wrong(mismatch) => Verdict::Wrong(mismatch),
        Answer::Crashed(how) => Verdict::Crashed { how },
        Answer::TimedOut(limit_s) => Verdict::TimedOut {
            limit_s,
            during: Phase::Run,
        },
        Answer::Refused(why) => Verdict::Refused { why },
    })
}

/// The error for a candidate that passed everything that needs no GPU.
fn unrun(planned: &Planned, error: &BenchError) -> BenchError {
    BenchError {
        what: format!(
            "it compiles, and its host code {}, but it cannot run here: {}",
            planned.told(),
            error.what
        ),
        ..error.clone()
    }
}

impl Bench for GpuBench {
    fn submit(&mut self, jobs: Vec<Job>) -> Result<(), BenchError> {
        let ledger = &mut self.ledger;
        self.shared.board.change(|queues| {
            for job in jobs {
                if let Some(key) = ledger.enter(&job) {
                    queues.cancelled.remove(&key);
                    queues.submitted.push_back((key, job));
                }
            }
        });
        Ok(())
    }

    fn next(&mut self, timeout: Duration) -> Result<Option<Reply>, BenchError> {
        let deadline = Instant::now() + timeout;
        loop {
            if let Some(reply) = self.ledger.take() {
                return Ok(Some(reply));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.replies.recv_timeout(left) {
                Ok(finished) => self.ledger.finish(&finished),
                Err(RecvTimeoutError::Timeout) => return Ok(None),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(BenchError::machine("the bench's threads have ended"));
                }
            }
        }
    }

    fn cancel(&mut self, ids: &[JobId]) {
        let unwanted = self.ledger.cancel(ids);
        self.shared
            .board
            .change(|queues| queues.cancelled.extend(unwanted));
    }

    fn facts(&self) -> MachineFacts {
        self.shared.site.facts.clone()
    }
}

impl Drop for GpuBench {
    fn drop(&mut self) {
        self.shared.board.change(|queues| queues.closed = true);
        for thread in self.threads.drain(..) {
            // A thread that panicked has already reported it.
            drop(thread.join());
        }
    }
}
