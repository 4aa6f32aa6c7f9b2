//! The runtime behind the synchronous traits, and unique names.

use hotloop_flow::BenchError;

/// A runtime of one thread besides the caller's, on `cores` if given.
pub(crate) fn runtime(cores: Option<Vec<usize>>) -> Result<tokio::runtime::Runtime, BenchError> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(1).enable_all();
    if let Some(cores) = cores {
        // A failure is harmless. The thread would only disturb timings more.
        builder.on_thread_start(move || drop(hotloop_bench::survey::pin_to_cores(&cores)));
    }
    builder
        .build()
        .map_err(|error| BenchError::machine(format!("a runtime cannot be started: {error}")))
}

/// A string that no other call returns.
pub(crate) fn nonce() -> String {
    use std::hash::{BuildHasher, Hasher};
    // The standard library seeds each one from the system.
    let word = || {
        std::collections::hash_map::RandomState::new()
            .build_hasher()
            .finish()
    };
    format!("{:016x}{:016x}", word(), word())
}
