//! A candidate: a source that defines the entry point of its task.

use crate::extracted::{Extracted, Malformed};
use crate::language::{self, Language};
use crate::task::Task;

/// A source in a task's language. [`Candidate::extract`] and [`Candidate::from_source`] check it
/// against the task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    language: Language,
    source: String,
    hash: String,
    notes: Vec<String>,
}

impl Candidate {
    /// Finds the candidate in a completion.
    ///
    /// # Panics
    /// If the task's language is not [supported](Language::supported).
    pub fn extract(completion: &str, task: &Task) -> Result<Self, Malformed> {
        let found = language::extract(task.spec.language, &task.spec.interface, completion)?;
        Ok(Self::of(task.spec.language, found))
    }

    /// Makes a candidate from the content of a file.
    ///
    /// # Panics
    /// If the task's language is not [supported](Language::supported).
    pub fn from_source(bytes: &[u8], task: &Task) -> Result<Self, Malformed> {
        let found = language::read(task.spec.language, &task.spec.interface, bytes)?;
        Ok(Self::of(task.spec.language, found))
    }

    /// A candidate whose source was extracted earlier, by this program or by the machine that sent
    /// it. The hash is computed again.
    pub fn restore(language: Language, source: String) -> Self {
        let notes = Vec::new();
        Self::of(language, Extracted { source, notes })
    }

    fn of(language: Language, Extracted { source, notes }: Extracted) -> Self {
        let hash = blake3::hash(source.as_bytes()).to_hex().to_string();
        Self {
            language,
            source,
            hash,
            notes,
        }
    }

    pub fn language(&self) -> Language {
        self.language
    }

    /// The source as it is compiled.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// BLAKE3 of the source, in hex.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// What extraction repaired.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The source without comments and white space. It is equal for candidates that differ in
    /// nothing else.
    pub fn normalised(&self) -> String {
        language::normalise(self.language, &self.source)
    }
}

#[cfg(test)]
mod tests;
