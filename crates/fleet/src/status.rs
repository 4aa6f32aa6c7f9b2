//! The status of a fleet.

use std::time::Duration;

use hotloop_flow::BenchError;
use serde::Serialize;

use crate::config::Config;
use crate::keeper::{self, Record};
use crate::link::Link;
use crate::runtime::runtime;
use crate::wire::Beat;
use crate::{Access, Log};

/// The status of a fleet.
#[derive(Debug, Clone, Serialize)]
pub struct Status {
    /// The fleet's name, or its server's address.
    pub name: String,
    /// Whether a keeper is running.
    pub kept: bool,
    /// What its keeper knows.
    pub keeper: Record,
    /// Why the server does not answer, if it does not.
    pub problem: Option<String>,
    /// Groups that wait or are being judged.
    pub queued: u64,
    /// Verdicts that wait for their coordinator.
    pub waiting: u64,
    /// The live workers.
    pub workers: Vec<Beat>,
}

/// Asks keeper and server.
pub fn of_fleet(config: &Config, patience: Duration, log: &Log) -> Status {
    let access = keeper::access(config);
    let mut status = Status {
        name: config.name.clone(),
        kept: keeper::is_up(config),
        keeper: Record::read(config),
        problem: None,
        queued: 0,
        waiting: 0,
        workers: Vec::new(),
    };
    match access.and_then(|access| of_server(&access, patience, log)) {
        Ok(server) => {
            status.queued = server.queued;
            status.waiting = server.waiting;
            status.workers = server.workers;
        }
        Err(error) => status.problem = Some(error.what),
    }
    status
}

/// Asks only a server.
pub fn of_server(access: &Access, patience: Duration, log: &Log) -> Result<Status, BenchError> {
    runtime(None)?.block_on(async {
        let link = Link::open(access, "hotloop status", patience, log).await?;
        let count = async |stream: &async_nats::jetstream::stream::Stream| {
            stream
                .get_info()
                .await
                .map(|info| info.state.messages)
                .map_err(|error| {
                    BenchError::machine(format!("the server's streams cannot be read: {error}"))
                })
        };
        Ok(Status {
            name: access.url.clone(),
            kept: false,
            keeper: Record::default(),
            problem: None,
            queued: count(&link.jobs).await?,
            waiting: count(&link.verdicts).await?,
            workers: link.beats().await?,
        })
    })
}
