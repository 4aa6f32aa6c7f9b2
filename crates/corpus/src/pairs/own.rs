//! Pairs that the user made: two folders with files of the same names, or a list of files.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::layout::{benchmark, in_trees};
use super::tree::{LeftOut, Tree, TreeError, is_cuda, name};
use super::unit::Outlines;

/// Where the user's pairs are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Own {
    /// A folder of slow and one of fast files.
    Folders { slow: PathBuf, fast: PathBuf },
    /// A file with an object per line: `slow` and `fast`, and perhaps `benchmark` and
    /// `description`. Paths are relative to the file.
    List(PathBuf),
}

/// A pair, each side by the index of its tree and its path there.
#[derive(Debug)]
pub(super) struct OwnPair {
    pub(super) benchmark: String,
    pub(super) description: Option<String>,
    pub(super) slow: (usize, String),
    pub(super) fast: (usize, String),
}

/// The user's pairs.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) trees: Vec<Tree>,
    pub(super) pairs: Vec<OwnPair>,
    pub(super) left_out: Vec<LeftOut>,
    pub(super) sources: Vec<String>,
}

/// Finds the pairs.
pub(super) fn pairs(own: &Own) -> Result<Found, TreeError> {
    match own {
        Own::Folders { slow, fast } => of_folders(slow, fast),
        Own::List(file) => of_list(file),
    }
}

fn of_folders(slow: &Path, fast: &Path) -> Result<Found, TreeError> {
    let trees = [Tree::open(slow)?, Tree::open(fast)?];
    let mut found = Found::default();
    let all = [String::new()];
    let outlines = [Outlines::of(&trees[0], &all), Outlines::of(&trees[1], &all)];
    for (slow, fast) in in_trees(&outlines[0], &outlines[1]) {
        found.pairs.push(OwnPair {
            benchmark: benchmark(&fast),
            description: None,
            slow: (0, slow),
            fast: (1, fast),
        });
    }
    for (at, tree) in trees.iter().enumerate() {
        found.sources.push(tree.root().display().to_string());
        found.left_out.extend(tree.left_out().iter().cloned());
        let unreadable = outlines[at].unreadable();
        found
            .left_out
            .extend(unreadable.map(|(file, why)| LeftOut::new(file, why)));
        let is_used = |file: &str| {
            found
                .pairs
                .iter()
                .any(|pair| [&pair.slow, &pair.fast].contains(&&(at, file.to_owned())))
        };
        let unused: Vec<LeftOut> = tree
            .files()
            .filter(|file| is_cuda(file) && !is_used(file))
            .map(|file| LeftOut::new(file, "no kernel file is its counterpart"))
            .collect();
        found.left_out.extend(unused);
    }
    drop(outlines);
    found.trees = trees.into();
    Ok(found)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    slow: PathBuf,
    fast: PathBuf,
    benchmark: Option<String>,
    description: Option<String>,
}

fn of_list(file: &Path) -> Result<Found, TreeError> {
    let text = fs_err::read_to_string(file)?;
    let base = file.parent().unwrap_or(Path::new(""));
    let mut found = Found {
        sources: vec![file.display().to_string()],
        ..Found::default()
    };
    for (number, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let wrong = |what: String| TreeError::List {
            file: file.to_owned(),
            line: number + 1,
            what,
        };
        let line: Line = serde_json::from_str(line).map_err(|error| wrong(error.to_string()))?;
        let mut side = |path: &Path| -> Result<(usize, String), TreeError> {
            let path = base.join(path);
            let (Some(folder), Some(file)) = (path.parent(), path.file_name()) else {
                return Err(wrong(format!("{}: it is no file", path.display())));
            };
            let file = file.to_string_lossy().into_owned();
            let tree = Tree::open(folder)?;
            if !tree.has(&file) {
                return Err(wrong(format!("{}: there is no such file", path.display())));
            }
            found.trees.push(tree);
            Ok((found.trees.len() - 1, file))
        };
        let (slow, fast) = (side(&line.slow)?, side(&line.fast)?);
        found.pairs.push(OwnPair {
            benchmark: line.benchmark.unwrap_or_else(|| benchmark(name(&fast.1))),
            description: line.description,
            slow,
            fast,
        });
    }
    Ok(found)
}
