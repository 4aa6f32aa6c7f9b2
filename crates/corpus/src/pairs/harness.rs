//! A harness makes candidates of the two sides of a pair.
//!
//! A side is kernels alone. A harness is a task of its own, with arguments, sizes, a tolerance and
//! a reference in double precision, and the host code that launches the kernels of each side. So
//! both sides become candidates of one task, which a bench for CUDA judges like any others.
//!
//! Harnesses are data of ours. They hold no code of a suite.

use std::path::Path;
use std::sync::Arc;

use hotloop_flow::task::TaskFiles;
use hotloop_flow::{Candidate, Language, Task};
use serde::Deserialize;

use super::compile::with_prelude;
use super::record::{Record, Suite};

macro_rules! shipped {
    ($($name:literal $slow:literal $fast:literal),* $(,)?) => {
        &[$((
            $name,
            Files {
                pair: include_str!(concat!("../../harnesses/", $name, "/pair.toml")),
                task: include_str!(concat!("../../harnesses/", $name, "/task.toml")),
                reference: include_str!(concat!("../../harnesses/", $name, "/reference.cu")),
                slow: include_str!(concat!("../../harnesses/", $name, "/", $slow)),
                fast: include_str!(concat!("../../harnesses/", $name, "/", $fast)),
            },
        )),*]
    };
}

const SHIPPED: &[(&str, Files<'static>)] = shipped![
    "backprop" "both.cu" "both.cu",
    "cp" "slow.cu" "fast.cu",
    "hotspot" "both.cu" "both.cu",
    "lavamd" "both.cu" "both.cu",
    "lud" "both.cu" "both.cu",
    "mri-fhd" "slow.cu" "fast.cu",
    "nw" "both.cu" "both.cu",
    "pathfinder" "both.cu" "both.cu",
    "sgemm" "slow.cu" "fast.cu",
    "spmv" "slow.cu" "fast.cu",
    "srad" "both.cu" "both.cu",
    "stencil" "slow.cu" "fast.cu",
    "stencil-fermi" "slow.cu" "fast.cu",
];

/// The files of a harness, unread.
struct Files<'a> {
    pair: &'a str,
    task: &'a str,
    reference: &'a str,
    slow: &'a str,
    fast: &'a str,
}

/// Which pair a harness is for.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Pair {
    suite: Suite,
    file: String,
    #[serde(default)]
    slow_file: Option<String>,
}

/// What makes candidates of a pair's sides.
#[derive(Debug, Clone)]
pub struct Harness {
    pub name: String,
    /// The problem that both sides solve.
    pub task: Arc<Task>,
    /// Identifies its whole content.
    pub hash: String,
    pair: Pair,
    /// The host code of the slow side and of the fast one.
    hosts: [String; 2],
}

/// A harness cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum HarnessError {
    #[error("the harness {name}: {why}")]
    Faulty { name: String, why: String },
    #[error(transparent)]
    File(#[from] std::io::Error),
}

impl Harness {
    /// The harnesses that come with hotloop.
    pub fn shipped() -> Result<Vec<Self>, HarnessError> {
        let parse = |(name, files): &(&str, Files<'_>)| Self::parse(name, files);
        SHIPPED.iter().map(parse).collect()
    }

    /// The harnesses in the folders below `folder`.
    pub fn below(folder: &Path) -> Result<Vec<Self>, HarnessError> {
        let mut found = Vec::new();
        for entry in fs_err::read_dir(folder)? {
            let path = entry?.path();
            if path.join("pair.toml").exists() {
                found.push(Self::read(&path)?);
            }
        }
        found.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(found)
    }

    /// A harness from its folder. Host code that serves both sides is one file, `both.cu`.
    fn read(folder: &Path) -> Result<Self, HarnessError> {
        let read = |file: &str| fs_err::read_to_string(folder.join(file));
        let is_one = folder.join("both.cu").exists();
        let [slow, fast] = if is_one {
            ["both.cu"; 2]
        } else {
            ["slow.cu", "fast.cu"]
        };
        let name = folder.file_name().unwrap_or_default();
        let files = Files {
            pair: &read("pair.toml")?,
            task: &read("task.toml")?,
            reference: &read("reference.cu")?,
            slow: &read(slow)?,
            fast: &read(fast)?,
        };
        Self::parse(&name.to_string_lossy(), &files)
    }

    fn parse(name: &str, files: &Files<'_>) -> Result<Self, HarnessError> {
        let faulty = |why: String| HarnessError::Faulty {
            name: name.to_owned(),
            why,
        };
        let pair: Pair =
            toml::from_str(files.pair).map_err(|error| faulty(format!("pair.toml: {error}")))?;
        let task = Task::parse(TaskFiles {
            toml: files.task.to_owned(),
            reference: files.reference.to_owned(),
            ..TaskFiles::default()
        })
        .map_err(|error| faulty(format!("task.toml: {error}")))?;
        if task.spec.language != Language::Cuda {
            return Err(faulty("task.toml: its language must be cuda".to_owned()));
        }
        let mut hasher = blake3::Hasher::new();
        for part in [&task.hash, files.pair, files.slow, files.fast] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        Ok(Self {
            name: name.to_owned(),
            task: Arc::new(task),
            hash: hasher.finalize().to_hex()[..16].to_owned(),
            pair,
            hosts: [files.slow.to_owned(), files.fast.to_owned()],
        })
    }

    /// Whether it is for this pair.
    pub fn fits(&self, record: &Record) -> bool {
        self.pair.suite == record.suite
            && self.pair.file == record.file
            && (self.pair.slow_file.is_none() || self.pair.slow_file == record.slow_file)
    }

    /// The pair's slow side and its fast side, each with its host code.
    pub fn candidates(&self, record: &Record) -> [Result<Candidate, String>; 2] {
        let [slow, fast] = &self.hosts;
        [(&record.slow, slow), (&record.fast, fast)].map(|(side, host)| {
            let source = format!(
                "#include <cuda_runtime.h>\n\n{}\n{host}",
                with_prelude(side)
            );
            let found = Candidate::from_source(source.as_bytes(), &self.task);
            found.map_err(|malformed| malformed.why)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_harness_is_a_task_and_names_one_pair() {
        let all = Harness::shipped().expect("they are ours");
        assert!(all.len() >= 8, "{}", all.len());
        let below = Path::new(env!("CARGO_MANIFEST_DIR")).join("harnesses");
        let read = Harness::below(&below).expect("they are ours");
        for (harness, same) in all.iter().zip(&read) {
            assert_eq!(harness.name, same.name);
            assert_eq!(harness.hash, same.hash, "{}", harness.name);
            assert_eq!(harness.task.spec.name, format!("pairs/{}", harness.name));
        }
        assert_eq!(all.len(), read.len(), "every folder is shipped");
        let files: std::collections::BTreeSet<&str> =
            all.iter().map(|harness| &*harness.pair.file).collect();
        assert_eq!(files.len(), all.len());
    }
}
