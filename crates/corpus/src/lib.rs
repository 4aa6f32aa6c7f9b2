//! Data sets: a synthetic corpus of C candidates for the nano policy, one of CUDA candidates
//! ([`cuda`]), pairs of slow and fast CUDA from suites of benchmarks ([`pairs`]), and the problems
//! of `KernelBench` ([`kernelbench`]), and random tasks ([`generated`]).
//!
//! ```text
//! choices -> program -> canonical source -> record (prompt, answer) -> shards
//!                                        -> BPE merges -> tokenizer.json
//! ```
//!
//! A [`Program`] is a struct of choices, never a string. [`canonical`] is the only way to write it,
//! and [`nano_prompt`] the only way to ask for it. Every answer is a correct candidate. Broken code
//! appears only in repair prompts. [`nearest`] measures the distance of other code from the corpus.

#![expect(
    clippy::format_push_string,
    clippy::format_collect,
    clippy::many_single_char_names,
    reason = "C templates read best as they will stand, with the names that C gets; speed does not \
        matter here"
)]

mod axis;
pub mod bpe;
pub mod breakage;
mod canonical;
mod corpus_files;
pub mod cuda;
pub mod dress;
pub mod generated;
pub mod kernelbench;
pub mod matmul;
pub mod matvec;
pub mod nano_prompt;
pub mod nearest;
pub mod pairs;
mod pool;
mod program;
mod rng;
pub mod softmax;
pub mod stencil;
mod synth;
pub mod transpose;

pub use canonical::canonical;
pub use corpus_files::{File, Lengths, Manifest, VOCABULARY, WriteError, tokenizer, write};
pub use pool::Pool;
pub use program::{BYTES_MAX, Program, TASKS};
pub use rng::Rng;
pub use synth::{Options, Record, Synth, synth};
