//! Sends answers. An answer is stored before its group is acknowledged.

use std::time::Duration;

use async_nats::jetstream::AckKind;
use hotloop_flow::{BenchError, ErrorKind};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

use super::pull::Came;
use crate::link::{Link, with_id};
use crate::wire::{self, Beat, Group, GroupReply, Judged, MESSAGE_BYTES, WireReply, WorkerNoise};

/// How long the server may be unreachable while an answer is sent.
const PATIENCE: Duration = Duration::from_mins(10);
/// Attempts to acknowledge a group. If all fail, the group comes again and is recognised.
const TRIES: u32 = 5;

/// Answers in transit.
pub(super) struct Answers<'a> {
    runtime: &'a Runtime,
    link: Link,
    under_way: Vec<JoinHandle<()>>,
}

impl<'a> Answers<'a> {
    pub(super) fn new(runtime: &'a Runtime, link: &Link) -> Self {
        Self {
            runtime,
            link: link.clone(),
            under_way: Vec::new(),
        }
    }

    /// Answers a group.
    pub(super) fn send(
        &mut self,
        came: Came,
        scope: &str,
        worker: &str,
        noise: WorkerNoise,
        replies: Vec<WireReply>,
    ) {
        let at = (came.sequence, came.delivery);
        let ids: Vec<String> = replies.iter().map(|one| one.id.clone()).collect();
        let mut bytes = GroupReply::new(at, worker, Some(noise), replies).bytes();
        if bytes.len() > MESSAGE_BYTES {
            let failure = Judged::Failure {
                kind: ErrorKind::Machine,
                what: "the group's verdicts do not fit into a message".into(),
                hint: None,
            };
            let replies = ids
                .into_iter()
                .map(|id| WireReply {
                    id,
                    judged: failure.clone(),
                })
                .collect();
            bytes = GroupReply::new(at, worker, Some(noise), replies).bytes();
        }
        let subject = wire::verdicts_subject(scope);
        // For several deliveries of the same group, the server keeps the first answer.
        let headers = with_id(&format!("{scope}-{}", came.sequence));
        let link = self.link.clone();
        self.go(async move {
            if link
                .publish(&subject, headers, bytes, PATIENCE)
                .await
                .is_ok()
            {
                for _ in 0..TRIES {
                    if came.acker.double_ack().await.is_ok() {
                        break;
                    }
                }
            }
            drop(came);
        });
    }

    /// Answers every job of a group with the machine's failure.
    pub(super) fn fail(
        &mut self,
        came: Came,
        group: &Group,
        worker: &str,
        noise: WorkerNoise,
        error: &BenchError,
    ) {
        let judged: Judged = Err(error.clone()).into();
        let replies = group
            .jobs
            .iter()
            .map(|job| WireReply {
                id: job.id.clone(),
                judged: judged.clone(),
            })
            .collect();
        self.send(came, &group.scope, worker, noise, replies);
    }

    /// Returns groups to the queue, so that others can take them at once.
    pub(super) fn hand_back(&mut self, groups: Vec<Came>) {
        for came in groups {
            self.go(async move {
                drop(came.acker.double_ack_with(AckKind::Nak(None)).await);
                drop(came);
            });
        }
    }

    /// Removes an unreadable group from the queue.
    pub(super) fn refuse(&mut self, came: Came) {
        self.go(async move {
            drop(came.acker.double_ack_with(AckKind::Term).await);
            drop(came);
        });
    }

    /// Sends a beat without waiting.
    pub(super) fn beat(&mut self, beat: &Beat) {
        let subject = wire::worker_subject(&beat.worker);
        let bytes = serde_json::to_vec(beat).unwrap_or_default();
        let client = self.link.context.client();
        self.under_way.retain(|one| !one.is_finished());
        self.runtime
            .spawn(async move { drop(client.publish(subject, bytes.into()).await) });
    }

    /// Waits until all answers are stored, at most `patience`.
    pub(super) fn wait(&mut self, patience: Duration) {
        let all = self.under_way.drain(..).collect::<Vec<_>>();
        let waiting = async {
            for one in all {
                drop(one.await);
            }
        };
        drop(self.runtime.block_on(async {
            tokio::time::timeout(patience.max(Duration::from_secs(1)), waiting).await
        }));
    }

    /// Removes the worker from the list and flushes the connection.
    pub(super) fn part(&self, worker: &str) {
        let subject = wire::worker_subject(worker);
        let parting = async {
            drop(self.link.workers.purge().filter(subject).await);
            drop(self.link.context.client().flush().await);
        };
        drop(
            self.runtime
                .block_on(async { tokio::time::timeout(Duration::from_secs(2), parting).await }),
        );
    }

    fn go(&mut self, future: impl Future<Output = ()> + Send + 'static) {
        self.under_way.push(self.runtime.spawn(future));
    }
}
