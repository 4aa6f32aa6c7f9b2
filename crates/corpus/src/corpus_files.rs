//! Writes a corpus to disk atomically: shards, tokenizer and manifest.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::bpe::Bpe;
use crate::nano_prompt::special_tokens;
use crate::pool::Pool;
use crate::synth::{Options, synth};

/// Tokens of the vocabulary.
pub const VOCABULARY: usize = 1024;
/// Records of one shard.
const SHARD: usize = 50_000;
/// The approximate number of candidates for training the vocabulary. Every n-th candidate is used.
const TRAINED_ON: usize = 20_000;

/// The corpus could not be written.
#[derive(Debug, thiserror::Error)]
#[error("failed to write the corpus to {folder}: {source}")]
pub struct WriteError {
    pub folder: PathBuf,
    pub source: io::Error,
}

/// The content of `manifest.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The options that the corpus was made with.
    pub options: Options,
    /// Distinct candidates.
    pub programs: usize,
    /// Records for training.
    pub train: usize,
    /// Records for validation.
    pub validation: usize,
    /// Records by task, stage and role.
    pub counts: BTreeMap<String, usize>,
    /// Tokens of a candidate.
    pub tokens: Lengths,
    /// All other files.
    pub files: Vec<File>,
}

/// A file of a corpus.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct File {
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// Its BLAKE3 in hex.
    pub blake3: String,
}

/// How long candidates are, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Lengths {
    pub mean: f64,
    /// 95 percent are at most this long.
    pub p95: usize,
    /// The longest.
    pub max: usize,
}

impl Lengths {
    /// Statistics of these lengths; zeros if there are none.
    pub fn of(mut lengths: Vec<usize>) -> Self {
        lengths.sort_unstable();
        let sum: usize = lengths.iter().sum();
        let at = |share: usize| {
            lengths.get((lengths.len() * share / 100).min(lengths.len().saturating_sub(1)))
        };
        Self {
            mean: sum as f64 / lengths.len().max(1) as f64,
            p95: at(95).copied().unwrap_or(0),
            max: at(100).copied().unwrap_or(0),
        }
    }
}

/// The vocabulary for a pool of candidates.
pub fn tokenizer(pool: &Pool) -> Bpe {
    let every = (pool.len() / TRAINED_ON).max(1);
    let sources: Vec<String> = pool
        .programs()
        .step_by(every)
        .map(crate::Program::source)
        .collect();
    Bpe::train(
        sources.iter().map(String::as_str),
        &special_tokens(),
        VOCABULARY,
    )
}

/// Writes a corpus to `folder`, which must be empty or absent, and reports what was written.
pub fn write(options: &Options, folder: &Path) -> Result<Manifest, WriteError> {
    let failed = |source: io::Error| WriteError {
        folder: folder.to_owned(),
        source,
    };
    let parent = folder
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    fs_err::create_dir_all(parent).map_err(failed)?;
    let draft = tempfile::Builder::new()
        .prefix(".corpus-")
        .tempdir_in(parent)
        .map_err(failed)?;
    let manifest = write_files(options, draft.path()).map_err(failed)?;
    // The rename fails if the folder exists and has content, so nothing is ever replaced.
    fs_err::rename(draft.path(), folder).map_err(failed)?;
    let _moved = draft.keep();
    Ok(manifest)
}

fn write_files(options: &Options, folder: &Path) -> io::Result<Manifest> {
    let records = synth(options);
    let programs = records.pool().len();
    let bpe = tokenizer(records.pool());
    let tokens = Lengths::of(
        records
            .pool()
            .programs()
            .map(|program| bpe.encode(&program.source()).len())
            .collect(),
    );
    let mut shards = [
        Shards::new(folder, "train"),
        Shards::new(folder, "validation"),
    ];
    let mut counts = BTreeMap::new();
    for record in records {
        for key in [
            record.task.clone(),
            record.stage.to_string(),
            record.role.name().to_owned(),
        ] {
            *counts.entry(key).or_default() += 1;
        }
        let line = serde_json::to_vec(&record)?;
        shards[usize::from(record.is_validation(options.validation_percent))].push(line)?;
    }
    let [train, validation] = shards.each_ref().map(|shards| shards.records);
    let mut files = Vec::new();
    for mut shard in shards {
        shard.close()?;
        files.append(&mut shard.files);
    }
    let json = serde_json::to_vec_pretty(&bpe.tokenizer_json())?;
    files.push(write_file(folder, "tokenizer.json", &json)?);
    let manifest = Manifest {
        options: *options,
        programs,
        train,
        validation,
        counts,
        tokens,
        files,
    };
    write_file(
        folder,
        "manifest.json",
        &serde_json::to_vec_pretty(&manifest)?,
    )?;
    Ok(manifest)
}

fn write_file(folder: &Path, name: &str, content: &[u8]) -> io::Result<File> {
    let mut file = fs_err::File::create(folder.join(name))?;
    file.write_all(content)?;
    file.sync_all()?;
    Ok(File {
        name: name.to_owned(),
        bytes: content.len() as u64,
        blake3: blake3::hash(content).to_hex().to_string(),
    })
}

/// Numbered files of records.
struct Shards<'a> {
    folder: &'a Path,
    name: &'static str,
    records: usize,
    open: Option<(BufWriter<fs_err::File>, blake3::Hasher, u64)>,
    files: Vec<File>,
}

impl<'a> Shards<'a> {
    fn new(folder: &'a Path, name: &'static str) -> Self {
        Self {
            folder,
            name,
            records: 0,
            open: None,
            files: Vec::new(),
        }
    }

    fn next_name(&self) -> String {
        format!("{}-{:03}.jsonl", self.name, self.files.len())
    }

    fn push(&mut self, mut line: Vec<u8>) -> io::Result<()> {
        line.push(b'\n');
        if self.records.is_multiple_of(SHARD) {
            self.close()?;
            let file = fs_err::File::create(self.folder.join(self.next_name()))?;
            self.open = Some((BufWriter::new(file), blake3::Hasher::new(), 0));
        }
        if let Some((file, hasher, bytes)) = &mut self.open {
            file.write_all(&line)?;
            hasher.update(&line);
            *bytes += line.len() as u64;
        }
        self.records += 1;
        Ok(())
    }

    fn close(&mut self) -> io::Result<()> {
        if let Some((mut file, hasher, bytes)) = self.open.take() {
            file.flush()?;
            file.get_ref().sync_all()?;
            self.files.push(File {
                name: self.next_name(),
                bytes,
                blake3: hasher.finalize().to_hex().to_string(),
            });
        }
        Ok(())
    }
}
