//! The server's interface for both sides: its streams, and calls that survive a cut connection.

use std::time::{Duration, Instant};

use async_nats::HeaderMap;
use async_nats::jetstream::consumer::pull;
use async_nats::jetstream::consumer::{AckPolicy, Consumer, DeliverPolicy};
use async_nats::jetstream::context::PublishErrorKind;
use async_nats::jetstream::publish::PublishAck;
use async_nats::jetstream::stream::{Config, RetentionPolicy, Stream};
use async_nats::jetstream::{self, Context};
use hotloop_flow::BenchError;

use crate::Log;
use crate::access::{Access, chain};
use crate::wire::{Beat, JOBS, LOST, VERDICTS, WORKERS};

/// A message sent twice within this time is kept once.
const DUPLICATES: Duration = Duration::from_mins(30);
/// Replies and advisories that nobody takes are dropped after this time.
const KEPT: Duration = Duration::from_hours(24);
/// How long workers may be listed.
const LISTING: Duration = Duration::from_secs(30);
/// A worker that is silent for this long is gone.
const SILENT: Duration = Duration::from_secs(15);

/// A connection to the server, and its streams.
#[derive(Clone)]
pub(crate) struct Link {
    pub(crate) context: Context,
    pub(crate) jobs: Stream,
    pub(crate) verdicts: Stream,
    pub(crate) lost: Stream,
    pub(crate) workers: Stream,
}

impl Link {
    /// Connects, and creates the streams if they do not exist.
    pub(crate) async fn open(
        access: &Access,
        name: &str,
        patience: Duration,
        log: &Log,
    ) -> Result<Self, BenchError> {
        let client = access.connect(name, patience, log).await?;
        let context = jetstream::new(client);
        let begin = Instant::now();
        loop {
            match Self::streams(&context).await {
                Ok([jobs, verdicts, lost, workers]) => {
                    return Ok(Self {
                        context,
                        jobs,
                        verdicts,
                        lost,
                        workers,
                    });
                }
                // A server that has just started is not ready for streams at once.
                Err(_) if begin.elapsed() < patience => {
                    tokio::time::sleep(Duration::from_millis(200)).await;
                }
                Err(why) => {
                    return Err(BenchError::machine(format!(
                        "{}: the server's streams cannot be made: {why}",
                        access.url
                    ))
                    .hint("the server needs JetStream, and room in its store_dir"));
                }
            }
        }
    }

    async fn streams(context: &Context) -> Result<[Stream; 4], String> {
        let base = |name: &str, subject: &str| Config {
            name: name.to_owned(),
            subjects: vec![subject.to_owned()],
            duplicate_window: DUPLICATES,
            max_age: KEPT,
            ..Config::default()
        };
        let queue = |name: &str, subject: &str| Config {
            retention: RetentionPolicy::WorkQueue,
            ..base(name, subject)
        };
        let advisories = format!("$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.{JOBS}.>");
        let beats = Config {
            max_messages_per_subject: 1,
            max_age: SILENT,
            duplicate_window: SILENT,
            ..base(WORKERS, "hotloop.workers.*")
        };
        let wanted = [
            queue(JOBS, "hotloop.jobs.>"),
            queue(VERDICTS, "hotloop.verdicts.*"),
            base(LOST, &advisories),
            beats,
        ];
        let mut made = Vec::new();
        for config in wanted {
            made.push(
                context
                    .get_or_create_stream(config)
                    .await
                    .map_err(|error| chain(&error))?,
            );
        }
        made.try_into()
            .map_err(|_| "a stream is missing".to_owned())
    }

    /// Publishes until the server has the message, across cut connections and restarts.
    pub(crate) async fn publish(
        &self,
        subject: &str,
        headers: HeaderMap,
        payload: Vec<u8>,
        patience: Duration,
    ) -> Result<PublishAck, BenchError> {
        let begin = Instant::now();
        loop {
            let sent = self
                .context
                .publish_with_headers(subject.to_owned(), headers.clone(), payload.clone().into())
                .await;
            let error = match sent {
                Ok(acknowledged) => match acknowledged.await {
                    Ok(ack) => return Ok(ack),
                    Err(error) => error,
                },
                Err(error) => error,
            };
            let hopeless = matches!(
                error.kind(),
                PublishErrorKind::MaxPayloadExceeded | PublishErrorKind::WrongLastMessageId
            );
            if hopeless || begin.elapsed() >= patience {
                return Err(BenchError::machine(format!(
                    "{subject}: the server does not take it: {}",
                    chain(&error)
                )));
            }
            tokio::time::sleep(Duration::from_millis(250)).await;
        }
    }

    /// The durable consumer of a stream, which survives cut connections.
    pub(crate) async fn consumer(
        stream: &Stream,
        name: &str,
        filter: &str,
        lease: Duration,
        deliveries: i64,
    ) -> Result<Consumer<pull::Config>, String> {
        let config = pull::Config {
            durable_name: Some(name.to_owned()),
            filter_subject: filter.to_owned(),
            deliver_policy: DeliverPolicy::All,
            ack_policy: AckPolicy::Explicit,
            ack_wait: lease,
            max_deliver: deliveries,
            max_ack_pending: 20_000,
            inactive_threshold: KEPT,
            ..pull::Config::default()
        };
        stream
            .create_consumer(config)
            .await
            .map_err(|error| chain(&error))
    }

    /// The last beats of all live workers.
    pub(crate) async fn beats(&self) -> Result<Vec<Beat>, BenchError> {
        let mut beats = Vec::new();
        let mut next = 1;
        let begin = Instant::now();
        loop {
            // Workers that send more beats than can be read must not keep this from ending.
            if begin.elapsed() > LISTING {
                return Err(BenchError::machine(format!(
                    "workers cannot be listed: {} beats were read, and there are more",
                    beats.len()
                )));
            }
            match self
                .workers
                .get_first_raw_message_by_subject("hotloop.workers.*", next)
                .await
            {
                Ok(message) => {
                    next = message.sequence + 1;
                    beats.extend(Beat::read(&message.payload));
                }
                Err(error) if is_missing(&error) => {
                    // A worker that sent a beat meanwhile appears twice. Its last beat counts.
                    beats.reverse();
                    beats.sort_by(|a, b| a.worker.cmp(&b.worker));
                    beats.dedup_by(|a, b| a.worker == b.worker);
                    return Ok(beats);
                }
                Err(error) => {
                    return Err(BenchError::machine(format!(
                        "workers cannot be listed: {}",
                        chain(&error)
                    )));
                }
            }
        }
    }
}

/// Whether an error says that there is no such message.
pub(crate) fn is_missing(error: &async_nats::jetstream::stream::RawMessageError) -> bool {
    matches!(
        error.kind(),
        async_nats::jetstream::stream::RawMessageErrorKind::NoMessageFound
    )
}

/// Headers with a message's id, by which the server recognises copies.
pub(crate) fn with_id(id: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(async_nats::header::NATS_MESSAGE_ID, id);
    headers
}
