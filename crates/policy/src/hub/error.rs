//! Why a download from the hub failed.

/// Why a download from the hub failed.
#[derive(Debug, thiserror::Error)]
pub enum HubError {
    /// No connection: no network, or no such host.
    #[error("{0}")]
    Unreachable(String),
    /// The hub asks for a token, or refuses this one.
    #[error("{0}")]
    Forbidden(String),
    /// The hub does not have it.
    #[error("{0}")]
    Missing(String),
    /// The transfer was interrupted, or delivered other bytes than announced.
    #[error("{0}")]
    Broken(String),
    /// This machine could not store it.
    #[error("{0}")]
    Disk(#[source] std::io::Error),
    /// The user asked to stop.
    #[error("stopped")]
    Stopped,
}
