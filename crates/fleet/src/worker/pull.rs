//! Takes groups from the queue while there is room, and keeps the lease on each.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use async_nats::jetstream::AckKind;
use async_nats::jetstream::consumer::{Consumer, pull};
use async_nats::jetstream::message::Acker;
use futures_util::StreamExt;
use hotloop_flow::BenchError;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

use super::duty::Duty;
use crate::link::Link;
use crate::wire;

/// How long one request for a group lasts. Stopping may take as long.
const STANDS: Duration = Duration::from_secs(1);
/// How often to check for room.
const LOOK: Duration = Duration::from_millis(5);

/// A leased group.
pub(super) struct Came {
    message: async_nats::Message,
    pub(super) acker: Arc<Acker>,
    /// Its place in the stream of jobs.
    pub(super) sequence: u64,
    /// How often it was delivered.
    pub(super) delivery: u32,
    count: usize,
    busy: Arc<AtomicUsize>,
    lease: JoinHandle<()>,
}

impl Came {
    pub(super) fn payload(&self) -> &[u8] {
        &self.message.payload
    }
}

impl Drop for Came {
    fn drop(&mut self) {
        self.lease.abort();
        self.busy.fetch_sub(self.count, Ordering::Relaxed);
    }
}

/// Takes groups while there is room.
pub(super) struct Puller {
    came: Receiver<Came>,
    busy: Arc<AtomicUsize>,
    paused: Arc<AtomicBool>,
    closed: Arc<AtomicBool>,
}

impl Puller {
    /// Starts to pull groups of `class`, up to `room` jobs.
    pub(super) fn start(
        runtime: &Runtime,
        link: &Link,
        class: &str,
        duty: &Duty,
        room: usize,
    ) -> Result<Self, BenchError> {
        let lease = duty.lease;
        let filter = format!("hotloop.jobs.{class}.>");
        let name = format!("class-{class}");
        let deliveries = i64::from(duty.deliveries.max(1));
        let consumer = runtime
            .block_on(Link::consumer(
                &link.jobs, &name, &filter, lease, deliveries,
            ))
            .map_err(|why| BenchError::machine(format!("the queue cannot be read: {why}")))?;
        let (sender, came) = channel();
        let puller = Self {
            came,
            busy: Arc::default(),
            paused: Arc::default(),
            closed: Arc::default(),
        };
        let loop_ = Loop {
            consumer,
            lease,
            room,
            busy: Arc::clone(&puller.busy),
            paused: Arc::clone(&puller.paused),
            closed: Arc::clone(&puller.closed),
        };
        runtime.spawn(loop_.run(sender));
        Ok(puller)
    }

    pub(super) fn pause(&self, pause: bool) {
        self.paused.store(pause, Ordering::Relaxed);
    }

    /// Jobs on lease.
    pub(super) fn busy(&self) -> usize {
        self.busy.load(Ordering::Relaxed)
    }

    /// The next group, if one comes in time.
    pub(super) fn next(&self, timeout: Duration) -> Option<Came> {
        match self.came.recv_timeout(timeout) {
            Ok(came) => Some(came),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                std::thread::sleep(timeout);
                None
            }
        }
    }

    /// Stops pulling, and returns the groups that came meanwhile.
    pub(super) fn close(self) -> Vec<Came> {
        self.closed.store(true, Ordering::Relaxed);
        // The sender ends with the loop, whose last request lasts for a moment.
        let mut rest = Vec::new();
        while let Ok(came) = self.came.recv_timeout(STANDS * 4) {
            rest.push(came);
        }
        rest
    }
}

struct Loop {
    consumer: Consumer<pull::Config>,
    lease: Duration,
    room: usize,
    busy: Arc<AtomicUsize>,
    paused: Arc<AtomicBool>,
    closed: Arc<AtomicBool>,
}

impl Loop {
    async fn run(self, came: Sender<Came>) {
        while !self.closed.load(Ordering::Relaxed) {
            if self.paused.load(Ordering::Relaxed) || self.busy.load(Ordering::Relaxed) >= self.room
            {
                tokio::time::sleep(LOOK).await;
                continue;
            }
            let Ok(mut batch) = self
                .consumer
                .batch()
                .max_messages(1)
                .expires(STANDS)
                .messages()
                .await
            else {
                tokio::time::sleep(Duration::from_millis(200)).await;
                continue;
            };
            match batch.next().await {
                Some(Ok(message)) => {
                    if let Some(one) = self.hold(message)
                        && came.send(one).is_err()
                    {
                        return;
                    }
                }
                // The server or the connection is down and will come back.
                Some(Err(_)) => tokio::time::sleep(Duration::from_millis(200)).await,
                None => {}
            }
        }
    }

    fn hold(&self, message: async_nats::jetstream::Message) -> Option<Came> {
        let info = message.info().ok()?;
        let (sequence, delivery) = (info.stream_sequence, info.delivered.max(1) as u32);
        let count = message
            .headers
            .as_ref()
            .and_then(|headers| headers.get(wire::COUNT)?.as_str().parse().ok())
            .unwrap_or(1_usize)
            .clamp(1, 4096);
        let (message, acker) = message.split();
        let acker = Arc::new(acker);
        self.busy.fetch_add(count, Ordering::Relaxed);
        let (kept, pause) = (Arc::clone(&acker), self.lease / 3);
        let lease = tokio::spawn(async move {
            loop {
                tokio::time::sleep(pause).await;
                // A lost message is followed by others.
                drop(kept.ack_with(AckKind::Progress).await);
            }
        });
        Some(Came {
            message,
            acker,
            sequence,
            delivery,
            count,
            busy: Arc::clone(&self.busy),
            lease,
        })
    }
}
