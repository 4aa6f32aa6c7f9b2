//! Takes over a scope on the server from an earlier coordinator, and leaves it.

use std::time::Duration;

use futures_util::TryStreamExt;
use hotloop_flow::BenchError;

use crate::link::Link;

/// Timeout for leaving.
const PARTING: Duration = Duration::from_secs(2);

/// Ends an earlier coordinator of this scope, because only one can get the replies.
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
    // An unreachable server forgets them after a day.
    drop(tokio::time::timeout(PARTING, take_over(link, scope)).await);
}
