//! A run that is read while another process writes it.
//!
//! The state is the same fold over the same events. Here it grows with the journal's file, and
//! remembers where each step's answers stand in it, because the state does not keep their tokens.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::event::{Event, GroupSampled, Place};
use crate::journal::{self, JournalError, Placed};
use crate::state::RunState;
use crate::store;

/// How much of a journal is read at a time, so that nobody waits long for the state.
const PART: u64 = 4 << 20;

/// A run directory and how far it was read.
#[derive(Debug)]
pub struct Followed {
    directory: PathBuf,
    state: RunState,
    /// Bytes of the journal that the state covers.
    read: u64,
    /// Where the answers of each step stand.
    sampled: HashMap<u64, u64>,
    /// When the last event happened, in seconds since 1970.
    last_s: f64,
}

/// A part of the journal that the state does not cover yet.
pub struct Part {
    read: u64,
    lines: Vec<Placed>,
}

/// The tokens of a prompt and of an answer to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tokens {
    pub prompt: Vec<u32>,
    pub answer: Vec<u32>,
}

impl Followed {
    /// Nothing is read yet.
    pub fn new(directory: &Path) -> Self {
        Self {
            directory: directory.to_owned(),
            state: RunState::default(),
            read: 0,
            sampled: HashMap::new(),
            last_s: 0.0,
        }
    }

    pub fn directory(&self) -> &Path {
        &self.directory
    }

    pub fn state(&self) -> &RunState {
        &self.state
    }

    /// When the last event happened, in seconds since 1970.
    pub fn last_s(&self) -> f64 {
        self.last_s
    }

    /// Bytes of the journal that the state covers.
    pub fn read(&self) -> u64 {
        self.read
    }

    /// The next part of the journal. Reading takes long, so that it does not change `self`.
    pub fn next(&self) -> Result<Part, JournalError> {
        let path = store::journal_path(&self.directory);
        let facts = std::fs::metadata(&path)
            .ok()
            .filter(std::fs::Metadata::is_file);
        let Some(facts) = facts else {
            // A run that was just made has no journal yet, and one that was removed never again.
            // Opening a pipe would wait for its writer.
            return Ok(Part {
                read: 0,
                lines: Vec::new(),
            });
        };
        // Somebody cut the journal by hand, so the fold begins again.
        let from = if facts.len() < self.read {
            0
        } else {
            self.read
        };
        Ok(Part {
            read: from,
            lines: journal::read_after(&path, from, PART)?,
        })
    }

    /// Takes in a part, and returns whether anything changed.
    pub fn take(&mut self, part: &Part) -> bool {
        let restarted = part.read < self.read;
        if restarted {
            *self = Self::new(&self.directory.clone());
        }
        for placed in &part.lines {
            if let Event::StepSampled(sampled) = &placed.line.event {
                self.sampled.insert(sampled.step, placed.start);
            }
            self.state.apply(&placed.line.event, placed.line.at_s);
            self.read = placed.start + placed.length;
            self.last_s = placed.line.at_s;
        }
        restarted || !part.lines.is_empty()
    }

    /// Reads on to the journal's present end.
    pub fn catch_up(&mut self) -> Result<(), JournalError> {
        while self.take(&self.next()?) {}
        Ok(())
    }

    /// The tokens of one answer, read from the journal. API models give none.
    pub fn tokens(&self, at: Place) -> Result<Option<Tokens>, JournalError> {
        let Some(start) = self.sampled.get(&at.step) else {
            return Ok(None);
        };
        let line = journal::read_at(&store::journal_path(&self.directory), *start)?;
        let Some(Event::StepSampled(sampled)) = line.map(|line| line.event) else {
            return Ok(None);
        };
        let tokens = |group: &GroupSampled| {
            let answer = group.answers.get(at.member as usize)?.tokens.clone();
            Some(Tokens {
                prompt: group.prompt_tokens.clone(),
                answer,
            })
        };
        Ok(sampled
            .groups
            .get(at.group as usize)
            .and_then(tokens)
            .filter(|tokens| !tokens.answer.is_empty()))
    }
}
