//! What the linter says of a task.

/// How one check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// As it should be.
    Ok,
    /// Usable, but look at it.
    Warn,
    /// Not to be used.
    Error,
}

impl Mark {
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Error => "ERROR",
        }
    }
}

/// One check of a task.
#[derive(Debug)]
pub struct Finding {
    pub mark: Mark,
    pub about: String,
    pub says: String,
}

pub(super) fn finding(mark: Mark, about: impl Into<String>, says: impl Into<String>) -> Finding {
    Finding {
        mark,
        about: about.into(),
        says: says.into(),
    }
}
