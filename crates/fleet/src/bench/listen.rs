//! The coordinator's listeners: for replies, for advisories, and for groups that vanished.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use async_nats::jetstream::consumer::{Consumer, pull};
use async_nats::jetstream::context::ConsumerInfoErrorKind;
use async_nats::jetstream::message::Acker;
use async_nats::jetstream::stream::Stream;
use futures_util::StreamExt;
use hotloop_flow::{BenchError, Remedy, count};
use serde::Deserialize;
use tokio::runtime::Runtime;

use super::missing::{LOOK, quarantine};
use super::outstanding::{Event, Outstanding};
use crate::Log;
use crate::link::{Link, is_missing};
use crate::reminder::Reminder;
use crate::wire::{Beat, GroupReply, State};

/// How long one request for messages lasts.
const STANDS: Duration = Duration::from_secs(5);
/// How often outstanding groups are checked.
const AUDIT: Duration = Duration::from_secs(3);
/// Maximum number of groups checked per audit, the oldest first.
const LOOKS: usize = 64;
/// After this time without a reply, the workers are checked, too.
const QUIET: Duration = Duration::from_secs(20);

/// What the listeners share.
pub(super) struct Listening {
    pub(super) link: Link,
    pub(super) open: Outstanding,
    pub(super) class: String,
    pub(super) patience: Duration,
    pub(super) events: Sender<Event>,
    pub(super) log: Log,
}

type Pull = Consumer<pull::Config>;

/// Starts the listeners. They end with the runtime, or when their receiver is gone.
pub(super) fn start(runtime: &Runtime, listening: Listening, verdicts: Pull, lost: Pull) {
    let Listening {
        link, events, log, ..
    } = &listening;
    runtime.spawn(replies(
        link.verdicts.clone(),
        verdicts,
        events.clone(),
        Log::clone(log),
    ));
    runtime.spawn(advisories(link.lost.clone(), lost, events.clone()));
    runtime.spawn(audit(listening));
}

async fn replies(stream: Stream, consumer: Pull, events: Sender<Event>, log: Log) {
    let mut pull = Messages {
        stream,
        consumer,
        batch: None,
    };
    while let Some((message, acker)) = pull.next(&events).await {
        let event = match GroupReply::read(&message.payload) {
            Ok(reply) => Event::Reply(reply, Arc::new(acker), Instant::now()),
            Err(why) => {
                log(&format!("refused: a worker's reply: {why}"), &[]);
                drop(acker.ack().await);
                continue;
            }
        };
        if events.send(event).is_err() {
            return;
        }
    }
}

/// The server's advisory on a message that was delivered too often.
#[derive(Deserialize)]
struct Advisory {
    stream_seq: u64,
    deliveries: u64,
}

async fn advisories(stream: Stream, consumer: Pull, events: Sender<Event>) {
    let mut pull = Messages {
        stream,
        consumer,
        batch: None,
    };
    while let Some((message, acker)) = pull.next(&events).await {
        if let Ok(Advisory {
            stream_seq,
            deliveries,
        }) = serde_json::from_slice(&message.payload)
            && events
                .send(Event::Lost {
                    sequence: stream_seq,
                    deliveries,
                })
                .is_err()
        {
            return;
        }
        drop(acker.ack().await);
    }
}

/// A consumer's messages in order, across cut connections.
struct Messages {
    stream: Stream,
    consumer: Pull,
    batch: Option<pull::Batch>,
}

impl Messages {
    /// The next message; `None` when another coordinator has taken over.
    async fn next(&mut self, events: &Sender<Event>) -> Option<(async_nats::Message, Acker)> {
        loop {
            let batch = match &mut self.batch {
                Some(batch) => batch,
                none => {
                    let Ok(batch) = self
                        .consumer
                        .batch()
                        .max_messages(64)
                        .expires(STANDS)
                        .messages()
                        .await
                    else {
                        self.is_ours(events).await?;
                        continue;
                    };
                    none.insert(batch)
                }
            };
            match batch.next().await {
                Some(Ok(message)) => return Some(message.split()),
                // The request is complete, or has expired.
                None => self.batch = None,
                Some(Err(_)) => {
                    self.batch = None;
                    self.is_ours(events).await?;
                }
            }
        }
    }

    /// Pauses after an error, and returns whether there is still something to listen to.
    async fn is_ours(&self, events: &Sender<Event>) -> Option<()> {
        tokio::time::sleep(Duration::from_millis(200)).await;
        let name = &self.consumer.cached_info().name;
        match self.stream.consumer_info(name).await {
            Err(error) if error.kind() == ConsumerInfoErrorKind::NotFound => {
                let error =
                    BenchError::machine("another coordinator with the same name has taken over")
                        .hint("one run or batch is driven by one hotloop at a time");
                drop(events.send(Event::Over(error)));
                None
            }
            _ => Some(()),
        }
    }
}

/// Looks for groups that left the queue without a reply, and reports if all workers are gone or
/// take nothing.
async fn audit(listening: Listening) {
    let Listening {
        link,
        open,
        class,
        patience,
        events,
        log,
    } = listening;
    let mut missing: HashMap<u64, u32> = HashMap::new();
    let mut alone_since: Option<Instant> = None;
    let mut idle: Option<Reminder> = None;
    loop {
        tokio::time::sleep(AUDIT).await;
        let (oldest, heard) = {
            let groups = open.lock();
            (
                groups
                    .by_sequence
                    .keys()
                    .copied()
                    .take(LOOKS)
                    .collect::<Vec<u64>>(),
                groups.heard,
            )
        };
        if oldest.is_empty() {
            (alone_since, idle) = (None, None);
            continue;
        }
        let mut still = HashMap::new();
        for sequence in oldest {
            if matches!(link.jobs.get_raw_message(sequence).await, Err(error) if is_missing(&error))
            {
                let times = missing.get(&sequence).copied().unwrap_or(0) + 1;
                // A reply is stored before its group leaves the queue, so it may still be on its
                // way.
                if times >= 2 {
                    if events.send(Event::Gone { sequence }).is_err() {
                        return;
                    }
                } else {
                    still.insert(sequence, times);
                }
            }
        }
        missing = still;
        if heard.is_some_and(|heard| heard.elapsed() < QUIET) {
            (alone_since, idle) = (None, None);
            continue;
        }
        let Ok(mut beats) = link.beats().await else {
            continue;
        };
        beats.retain(|beat| beat.class == class);
        // A worker that takes no more jobs may still be working on earlier ones.
        if beats
            .iter()
            .any(|beat| beat.state == State::Ready || beat.busy > 0)
        {
            idle = None;
        } else if idle.get_or_insert_with(Reminder::new).is_due() {
            log(
                &format!("waiting: {}; {LOOK}", unserved(&open, &class, &beats)),
                &[Remedy::FleetStatus, Remedy::FleetUp],
            );
        }
        if !beats.is_empty() {
            alone_since = None;
        } else if alone_since.get_or_insert_with(Instant::now).elapsed() >= patience {
            let error = BenchError::machine(format!(
                "jobs wait, and no worker of class {class} is heard"
            ))
            .hint(LOOK)
            .remedies(&[Remedy::FleetStatus, Remedy::FleetUp]);
            if events.send(Event::Over(error)).is_err() {
                return;
            }
            alone_since = None;
        }
    }
}

/// A message if jobs wait while no worker of their class takes anything. `beats` are those of the
/// class's workers.
fn unserved(open: &Outstanding, class: &str, beats: &[Beat]) -> String {
    let candidates = open.lock().by_sequence.values().map(Vec::len).sum();
    let candidates = count(candidates, "candidate");
    format!(
        "{candidates}, and no worker of class {class} is ready{}",
        quarantine(beats)
    )
}
