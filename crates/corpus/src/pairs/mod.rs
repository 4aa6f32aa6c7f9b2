//! Pairs of slow and fast CUDA from suites of benchmarks that somebody else wrote.
//!
//! ```text
//! tree -> outline of each file -> pairs of files -> slices that stand alone -> records -> chats
//! record + harness -> two candidates of a task -> verdicts and times of both -> record
//! ```
//!
//! Nothing of a suite is part of hotloop: the builder reads folders that its user names.

mod build;
mod card;
mod chat;
mod compile;
mod describe;
mod files;
mod harness;
mod item;
mod layout;
mod licence;
mod outline;
mod own;
mod ran;
mod record;
mod run;
mod runs;
mod side;
mod slow;
mod split;
mod tree;
mod unit;
mod words;

pub use build::{BuildError, Built, Options, Tools, Writer, build};
pub use chat::Chat;
pub use compile::{Compile, Compiled, with_prelude};
pub use files::{read, write};
pub use harness::{Harness, HarnessError};
pub use licence::Licence;
pub use own::Own;
pub use ran::{Mark, Ran, RunCounts, RunSide, Speedup};
pub use record::{Compiles, Optimised, Record, Suite, Summary, Units};
pub use run::run;
pub use runs::{RunError, Runs};
pub use tree::{LeftOut, Text, Tree, TreeError};
