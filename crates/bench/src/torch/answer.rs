//! The text of an answer, by its language.

use std::path::Path;

/// An answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer<'a> {
    /// Python with a class `ModelNew`.
    Python(&'a str),
    /// One file of CUDA with a function `solve`.
    Cuda(&'a str),
}

impl<'a> Answer<'a> {
    /// The answer in a file of this name: CUDA if it ends in `.cu`.
    pub fn named(path: &Path, text: &'a str) -> Self {
        if path.extension().is_some_and(|end| end == "cu") {
            Self::Cuda(text)
        } else {
            Self::Python(text)
        }
    }

    pub fn text(self) -> &'a str {
        match self {
            Self::Python(text) | Self::Cuda(text) => text,
        }
    }
}
