//! The pairs of a folder that were run: what is kept of each, and what the whole folder says then.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use hotloop_flow::{Job, Verdict};
use serde::{Deserialize, Serialize};

use super::build::Built;
use super::files;
use super::harness::Harness;
use super::ran::{Mark, Ran, RunCounts};
use super::record::Record;
use super::run::run;

/// The pairs that were run so far, on disk: one line each, so that none is run again after a kill.
#[derive(Debug)]
struct Journal {
    path: PathBuf,
    lines: Vec<Line>,
}

/// A pair that was run, and under which circumstances. Under others it is run again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Line {
    /// The hashes of both sides.
    pair: [String; 2],
    /// The harness's hash.
    harness: String,
    rounds: usize,
    ran: Ran,
}

impl Journal {
    /// Opens the journal of a folder, which need not exist yet. A last line without its end is what
    /// a kill left, and goes.
    fn open(folder: &Path) -> io::Result<Self> {
        let path = folder.join("runs.jsonl");
        let text = match fs_err::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            read => read?,
        };
        let whole = text.rfind('\n').map_or(0, |at| at + 1);
        if whole < text.len() {
            let file = fs_err::OpenOptions::new().write(true).open(&path)?;
            file.set_len(whole as u64)?;
        }
        // What another version wrote is run again.
        let lines = text[..whole].lines();
        let lines = lines.filter_map(|line| serde_json::from_str(line).ok());
        Ok(Self {
            path,
            lines: lines.collect(),
        })
    }

    /// What is known of a pair under these circumstances.
    fn find(&self, record: &Record, harness: &Harness, runs: &Runs<'_>) -> Option<&Ran> {
        let is_same = |line: &&Line| {
            line.pair == [&*record.slow_blake3, &*record.fast_blake3]
                && line.harness == harness.hash
                && line.rounds == runs.rounds
                && line.ran.machine == runs.machine
        };
        self.lines.iter().find(is_same).map(|line| &line.ran)
    }

    /// Adds a pair that was run, on disk first.
    fn add(
        &mut self,
        record: &Record,
        harness: &Harness,
        rounds: usize,
        ran: Ran,
    ) -> io::Result<()> {
        let line = Line {
            pair: [record.slow_blake3.clone(), record.fast_blake3.clone()],
            harness: harness.hash.clone(),
            rounds,
            ran,
        };
        let text = serde_json::to_string(&line).map_err(io::Error::other)? + "\n";
        let mut file = fs_err::OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.path)?;
        file.write_all(text.as_bytes())?;
        file.sync_data()?;
        self.lines.push(line);
        Ok(())
    }
}

/// What a folder's pairs are run with.
#[derive(Debug, Clone, Copy)]
pub struct Runs<'a> {
    /// The first that fits a pair counts.
    pub harnesses: &'a [Harness],
    pub rounds: usize,
    /// Whether chats of pairs that are not faster stay.
    pub keep_slower: bool,
    /// The machine's class.
    pub machine: &'a str,
    /// Its GPU.
    pub device: &'a str,
}

/// Why a folder's pairs could not all be run. What was run is kept.
#[derive(Debug, thiserror::Error)]
pub enum RunError<E> {
    #[error(transparent)]
    File(#[from] io::Error),
    /// Judging failed, which says nothing of the pair.
    #[error("a side could not be judged")]
    Judging(E),
}

impl Runs<'_> {
    /// The harness of a pair.
    pub fn harness(&self, record: &Record) -> Option<&Harness> {
        self.harnesses.iter().find(|harness| harness.fits(record))
    }

    /// Runs all pairs of a folder that have a harness and were not run yet, and writes the folder
    /// again when all are known. `told` hears of each pair that is begun.
    pub fn of_folder<E>(
        &self,
        folder: &Path,
        judge: &mut dyn FnMut(Job) -> Result<Verdict, E>,
        told: &dyn Fn(&Record),
    ) -> Result<Built, RunError<E>> {
        let mut built = files::read(folder)?;
        let mut journal = Journal::open(folder)?;
        let mut found = BTreeMap::new();
        for (at, record) in built.records.iter().enumerate() {
            let Some(harness) = self.harness(record) else {
                continue;
            };
            if journal.find(record, harness, self).is_none() {
                told(record);
                let machine = (self.machine, self.device);
                let ran = run(harness, record, self.rounds, machine, judge);
                journal.add(
                    record,
                    harness,
                    self.rounds,
                    ran.map_err(RunError::Judging)?,
                )?;
            }
            found.extend(Some(at).zip(journal.find(record, harness, self).cloned()));
        }
        settle(&mut built, &found, self.keep_slower);
        files::rewrite(&built, folder)?;
        Ok(built)
    }
}

/// Writes what was found into the records, by their index, and counts it. Chats of pairs that are
/// not equal are dropped. So are those of pairs that are not faster, unless they are to be kept.
fn settle(built: &mut Built, found: &BTreeMap<usize, Ran>, keep_slower: bool) {
    let mut counts = RunCounts::default();
    for (at, record) in built.records.iter_mut().enumerate() {
        record.run = found.get(&at).cloned();
        record.dropped = None;
        let Some(ran) = &record.run else {
            counts.without_harness += 1;
            continue;
        };
        counts.run += 1;
        counts.equal += usize::from(ran.equal == Some(true));
        *counts.marks.entry(ran.mark).or_default() += 1;
        counts
            .machines
            .insert(ran.machine.clone(), ran.device.clone());
        let why = match ran.mark {
            Mark::Unequal => "its fast side does not compute what the slow side does",
            Mark::AsFast | Mark::Slower if !keep_slower => "its fast side is not faster",
            Mark::Faster | Mark::AsFast | Mark::Slower | Mark::Unproven => continue,
        };
        record.dropped = Some(why.to_owned());
        counts.dropped += 1;
    }
    built.summary.runs = Some(counts);
}
