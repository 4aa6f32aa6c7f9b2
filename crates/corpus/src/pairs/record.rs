//! What a pair is in the data set, and what is known about the whole.

use serde::{Deserialize, Serialize};

use super::licence::Licence;
use super::ran::{Ran, RunCounts};

/// Where a record is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Suite {
    Parboil,
    Rodinia,
    /// Folders or files that the user paired.
    Own,
}

/// A slow and a fast version of the same kernels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    pub suite: Suite,
    pub benchmark: String,
    /// The fast side's file.
    pub file: String,
    /// The slow side's file; `None` if the slow side was derived from the fast one.
    pub slow_file: Option<String>,
    /// What is shown to a model.
    pub description: String,
    /// What the application does, in the suite's words.
    pub application: Option<String>,
    /// What the fast side does otherwise, derived from the two sides.
    pub difference: String,
    /// The steps that made the slow side of the fast one; empty for natural pairs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<String>,
    /// The model that wrote the slow side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writer: Option<String>,
    /// The lines of the build that concern CUDA.
    pub build: Vec<String>,
    pub slow: String,
    pub fast: String,
    pub licence: Licence,
    /// BLAKE3 of the slow side, in hex.
    pub slow_blake3: String,
    /// The same of the fast side.
    pub fast_blake3: String,
    pub slow_tokens: usize,
    pub fast_tokens: usize,
    /// Tokens of its chat.
    pub chat_tokens: usize,
    /// Whether both sides have the same kernels with the same parameters.
    pub same_signature: bool,
    /// Whether the sides compile; `None` without a compiler.
    pub compiles: Option<Compiles>,
    /// What running both sides showed; `None` if the pair was not run.
    #[serde(default)]
    pub run: Option<Ran>,
    /// Why it is in no chat, although it is short enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped: Option<String>,
    /// Whether its benchmark is held out.
    pub held_out: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Whether the sides of a pair compile, with the first complaint of the compiler.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compiles {
    pub slow: bool,
    pub fast: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slow_error: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fast_error: Option<String>,
}

impl Compiles {
    pub fn both(&self) -> bool {
        self.slow && self.fast
    }
}

/// Counts of a build. Those in front concern the tree in Parboil's layout, or the user's own pairs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Whether the paper's rule decided.
    pub paper: bool,
    /// Applications with a version for CUDA.
    pub apps: usize,
    /// Those that have a naive version, too.
    pub apps_with_both: usize,
    /// Pairs of files of the same name.
    pub same_named: usize,
    /// Pairs that the rule considered.
    pub considered: usize,
    /// Pairs that were dropped.
    pub dropped: usize,
    pub kept: usize,
    /// Pairs that are equal after normalising. The paper's rule keeps them.
    pub identical: usize,
    /// Kernels of the kept pairs.
    pub kernels_slow: usize,
    pub kernels_fast: usize,
    /// Device functions of the kept pairs that are no kernels.
    pub helpers_slow: usize,
    pub helpers_fast: usize,
    /// Kept pairs of which both sides compile; `None` without a compiler.
    pub compiled: Option<usize>,
    /// `.cu` files, and those with a kernel.
    pub files: usize,
    pub files_with_kernel: usize,
    /// The tree in Rodinia's layout.
    pub rodinia: Option<Optimised>,
    /// Every file with a kernel as a unit of its own.
    pub units: Units,
    pub compiler: Option<String>,
    /// All records, and how they are split.
    pub records: usize,
    pub train: usize,
    pub held_out: usize,
    /// Benchmarks that are held out.
    pub held_out_benchmarks: Vec<String>,
    /// Chats that are longer than the limit.
    pub too_long: usize,
    pub max_tokens: usize,
    /// What counted the tokens.
    pub tokens_by: String,
    pub tokens: usize,
    pub left_out: usize,
    /// The trees.
    pub sources: Vec<String>,
    /// What running pairs showed; `None` if none was run.
    #[serde(default)]
    pub runs: Option<RunCounts>,
}

/// Counts of a tree that has only optimised versions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Optimised {
    pub apps: usize,
    pub files: usize,
    pub files_with_kernel: usize,
    pub kernels: usize,
    pub helpers: usize,
    /// Files with device functions and no kernel.
    pub helpers_only: usize,
    /// Kernel files that carry an optimisation which can be taken out.
    pub with_marks: usize,
    /// Pairs with a slow side that was derived.
    pub kept: usize,
    /// Those of which both sides compile; `None` without a compiler.
    pub compiled: Option<usize>,
}

/// Units that were given to the compiler.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Units {
    pub of: usize,
    /// `None` without a compiler.
    pub compiled: Option<usize>,
}
