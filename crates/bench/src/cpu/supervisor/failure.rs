//! How a candidate's process fails.

/// Why a candidate's process failed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Failure {
    /// It crashed or exited, in words.
    Crashed(String),
    /// It did not stop within this many seconds.
    TimedOut(f64),
    /// Something from outside killed it.
    Killed,
    /// The task's own code cannot be used.
    Task(String),
    /// The machine's fault.
    Machine(String),
}

/// The failure of a machine that could not do `what`.
pub(super) fn machine(what: &'static str) -> impl Fn(std::io::Error) -> Failure {
    move |error| Failure::Machine(format!("{what}: {error}"))
}
