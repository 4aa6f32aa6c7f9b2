//! The findings of the linter.

/// The result of one check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// The task passes.
    Ok,
    /// The task is usable, but someone should look at it.
    Warn,
    /// The task must not be used.
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
