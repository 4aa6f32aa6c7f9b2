//! Modules for torch: the problems that they may be for, and the desk of the bench that judges
//! them.
//!
//! A problem's Python runs as this user, outside of every sandbox, because it says what is right.
//! So the operator names the problems, and what runs is the operator's own text of them.

use std::collections::HashMap;
use std::sync::Arc;

use hotloop_flow::{Candidate, Language, Task, problem};

use crate::board::{Full, Ticket};
use crate::desk::{Desk, Wanted};
use crate::fault::Fault;
use crate::settings::Problems;

/// What the service judges modules by.
pub(crate) struct Modules {
    known: HashMap<blake3::Hash, Arc<Task>>,
    any: bool,
    desk: Desk,
}

impl Modules {
    pub(crate) fn new(problems: &Problems, desk: Desk) -> Self {
        let known = problems.texts.iter();
        let known = known.map(|text| (identity(text), Arc::new(problem::task(text))));
        Self {
            known: known.collect(),
            any: problems.any,
            desk,
        }
    }

    /// The problem with this text.
    pub(crate) fn find(&self, text: &str) -> Result<Arc<Task>, Fault> {
        match self.known.get(&identity(text)) {
            Some(task) => Ok(Arc::clone(task)),
            None if self.any => Ok(Arc::new(problem::task(text))),
            None => Err(Fault::unknown(
                "the reference_code is not a problem that this service judges modules for",
            )
            .hint("the operator of the service names its problems; blanks at ends do not matter")),
        }
    }

    /// Joins or starts the judging of a module.
    pub(crate) fn ask(&self, task: &Arc<Task>, code: String) -> Result<Ticket, Full> {
        let wanted = Wanted {
            task,
            candidate: &Candidate::restore(Language::Torch, code),
            stage: None,
            apart: None,
        };
        self.desk.ask([wanted]).map(|mut tickets| tickets.remove(0))
    }

    /// The modules that are not judged yet.
    pub(crate) fn waiting(&self) -> usize {
        self.desk.look().waiting
    }

    /// Why the bench does not judge, if it does not.
    pub(crate) fn trouble(&self) -> Option<String> {
        self.desk.look().bench.err().map(|error| error.what)
    }
}

/// Identifies a text without its blanks at the ends of lines and of the text, which data sets drop.
fn identity(text: &str) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    for line in text.trim().lines() {
        hasher.update(line.trim_end().as_bytes());
        hasher.update(b"\n");
    }
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_at_ends_are_no_other_problem() {
        assert_eq!(identity("\na = 1  \r\nb = 2\n\n"), identity("a = 1\nb = 2"));
        assert_ne!(identity("a = 1\n  b = 2"), identity("a = 1\nb = 2"));
    }
}
