//! The languages of candidates.
//!
//! A module for each language extracts code from answers and finds its techniques. The functions
//! here dispatch to the module. C is the only one so far, and [`Language::supported`] checks that
//! before a task is used.

pub mod c;

use serde::{Deserialize, Serialize};

use crate::extracted::{Extracted, Malformed};
use crate::interface::Interface;
use crate::stage::{Rules, Stages};

/// The language of candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Language {
    /// C, compiled by gcc or clang.
    C,
    /// CUDA C++, run on a GPU.
    Cuda,
    /// A `PyTorch` module.
    Torch,
}

/// A task names a language that candidates cannot be judged in yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("tasks in {0} cannot be judged by this version")]
pub struct Unsupported(pub Language);

impl std::fmt::Display for Language {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl Language {
    pub const ALL: [Self; 3] = [Self::C, Self::Cuda, Self::Torch];

    /// The name in `task.toml`.
    pub fn name(self) -> &'static str {
        match self {
            Self::C => "c",
            Self::Cuda => "cuda",
            Self::Torch => "torch",
        }
    }

    /// The extension of its files.
    pub fn extension(self) -> &'static str {
        match self {
            Self::C => "c",
            Self::Cuda => "cu",
            Self::Torch => "py",
        }
    }

    /// The name of a file in this language, e.g. `seed.c`.
    pub fn file(self, stem: &str) -> String {
        format!("{stem}.{}", self.extension())
    }

    /// The word after the backticks of a code block.
    pub fn fence(self) -> &'static str {
        match self {
            Self::C => "c",
            Self::Cuda => "cuda",
            Self::Torch => "python",
        }
    }

    /// Whether candidates in this language can be read and judged.
    pub fn supported(self) -> Result<(), Unsupported> {
        match self {
            Self::C => Ok(()),
            Self::Cuda | Self::Torch => Err(Unsupported(self)),
        }
    }

    /// The stages of a task that names none.
    pub fn default_stages(self) -> Stages {
        match self {
            Self::C => c::stages::default(),
            Self::Cuda | Self::Torch => Stages::unrestricted(),
        }
    }

    /// `Err` names what candidates in this language cannot have.
    pub(crate) fn check(self, interface: &Interface) -> Result<(), String> {
        match (self, interface) {
            (Self::C, Interface::Function(function)) => c::check(function),
            (Self::Cuda, Interface::Function(_)) | (Self::Torch, Interface::Module { .. }) => {
                Ok(())
            }
            (Self::C | Self::Cuda, Interface::Module { .. }) => Err(format!(
                "a task in {self} asks for a function: `entry`, `args` and `sizes`"
            )),
            (Self::Torch, Interface::Function(_)) => {
                Err(format!("a task in {self} asks for a module: `class`"))
            }
        }
    }
}

/// Finds the source in a completion.
///
/// # Panics
/// Like all functions here, if the language is not [supported](Language::supported).
pub fn extract(
    language: Language,
    interface: &Interface,
    completion: &str,
) -> Result<Extracted, Malformed> {
    match (language, interface) {
        (Language::C, Interface::Function(function)) => c::extract(completion, function),
        _ => unread(language),
    }
}

/// Checks a file's content.
pub fn read(
    language: Language,
    interface: &Interface,
    bytes: &[u8],
) -> Result<Extracted, Malformed> {
    match (language, interface) {
        (Language::C, Interface::Function(function)) => c::read(bytes, function),
        _ => unread(language),
    }
}

/// What a candidate must define.
pub fn signature(language: Language, interface: &Interface) -> String {
    match (language, interface) {
        (Language::C, Interface::Function(function)) => c::prototype(function, &function.entry),
        _ => unread(language),
    }
}

/// The source without comments and white space.
pub fn normalise(language: Language, source: &str) -> String {
    match language {
        Language::C => c::normalise(source),
        Language::Cuda | Language::Torch => unread(language),
    }
}

/// A sentence about the machine for a prompt. `simd` names its widest vectors, and `stage` the
/// forbidden techniques.
pub fn machine_hint(
    language: Language,
    simd: &str,
    stage: Option<Rules<'_>>,
) -> Option<&'static str> {
    match language {
        Language::C => c::answer::machine_hint(simd, stage),
        Language::Cuda | Language::Torch => unread(language),
    }
}

/// The beginning of every correct answer, after its fence.
pub fn beginning(language: Language, interface: &Interface, stage: Option<Rules<'_>>) -> String {
    match (language, interface) {
        (Language::C, Interface::Function(function)) => c::answer::beginning(function, stage),
        _ => unread(language),
    }
}

fn unread(language: Language) -> ! {
    panic!("{}, and nobody asked first", Unsupported(language))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_have_their_names() {
        let facts = Language::ALL.map(|language| (language.file("seed"), language.fence()));
        let expect = [("seed.c", "c"), ("seed.cu", "cuda"), ("seed.py", "python")];
        assert_eq!(facts, expect.map(|(file, fence)| (file.to_owned(), fence)));
        assert!(Language::C.supported().is_ok());
        assert_eq!(
            Language::Cuda.supported().unwrap_err().to_string(),
            "tasks in cuda cannot be judged by this version"
        );
    }
}
