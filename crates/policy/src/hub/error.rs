//! Why something did not come from the hub.

/// Why something did not come from the hub.
#[derive(Debug, thiserror::Error)]
pub enum HubError {
    /// No connection: no network, or no such host.
    #[error("{0}")]
    Unreachable(String),
    /// It asks for a token, or refuses this one.
    #[error("{0}")]
    Forbidden(String),
    /// It does not have that.
    #[error("{0}")]
    Missing(String),
    /// The transfer broke off, or brought other bytes than promised.
    #[error("{0}")]
    Broken(String),
    /// This machine could not store it.
    #[error("{0}")]
    Disk(#[source] std::io::Error),
    /// The user asked to stop.
    #[error("stopped")]
    Stopped,
}
