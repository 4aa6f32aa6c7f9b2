//! `PyTorch` modules whose work is CUDA: how they are asked for, and found in answers.

mod answer;
mod prompt;

pub use answer::{Code, code};
pub use prompt::{EXAMPLE_ANSWER, EXAMPLE_PROBLEM, prompt};
