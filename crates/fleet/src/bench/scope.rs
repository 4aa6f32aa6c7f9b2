//! A scope on the server: taken over from an earlier coordinator, and left.

use std::time::Duration;

use futures_util::TryStreamExt;
use hotloop_flow::BenchError;

use crate::link::Link;

/// How long parting may take.
const PARTING: Duration = Duration::from_secs(2);

/// Makes an earlier coordinator of this scope end: replies go to one only.
pub(super) async fn take_over(link: &Link, scope: &str) -> Result<(), BenchError> {
    for stream in [&link.verdicts, &link.lost] {
        let names: Vec<String> = stream
            .consumer_names()
            .try_collect()
            .await
            .map_err(|error| BenchError::machine(format!("consumers cannot be listed: {error}")))?;
        for name in names.iter().filter(|name| name.starts_with(scope)) {
            drop(stream.delete_consumer(name).await);
        }
    }
    Ok(())
}

/// Leaves nothing behind on the server.
pub(super) async fn close(link: &Link, scope: &str) {
    // A server that is away forgets them by itself after a day.
    drop(tokio::time::timeout(PARTING, take_over(link, scope)).await);
}
