//! The languages of candidates.
//!
//! A module for each language extracts code from answers and finds its techniques. The functions
//! here dispatch to the module. [`Language::supported`] says whether there is one, and is asked
//! before a task is used.

pub mod c;
pub mod cuda;
pub mod reasoning;
pub mod torch;

use serde::{Deserialize, Serialize};

use crate::extracted::{Extracted, Malformed};
use crate::interface::Interface;
use crate::machine::Device;
use crate::stage::{Rules, Stages};
use crate::technique::Technique;

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
            Self::C | Self::Cuda => Ok(()),
            Self::Torch => Err(Unsupported(self)),
        }
    }

    /// The stages of a task that names none.
    pub fn default_stages(self) -> Stages {
        match self {
            Self::C => c::stages::default(),
            Self::Cuda => cuda::stages::default(),
            Self::Torch => Stages::unrestricted(),
        }
    }

    /// `Err` names what candidates in this language cannot have.
    pub(crate) fn check(self, interface: &Interface) -> Result<(), String> {
        match (self, interface) {
            (Self::C, Interface::Function(function)) => c::check(function),
            (Self::Cuda, Interface::Function(function)) => cuda::check(function),
            (Self::Torch, Interface::Module { .. }) => Ok(()),
            (Self::C | Self::Cuda, Interface::Module { .. }) => Err(format!(
                "a task in {self} asks for a function: `entry`, `args` and `sizes`"
            )),
            (Self::Torch, Interface::Function(_)) => {
                Err(format!("a task in {self} asks for a module: `class`"))
            }
        }
    }

    /// The techniques that a stage may forbid.
    pub fn techniques(self) -> &'static [Technique] {
        match self {
            Self::C => &c::stages::TECHNIQUES,
            Self::Cuda => &cuda::stages::TECHNIQUES,
            Self::Torch => &[],
        }
    }

    /// `Err` names a technique that candidates in this language do not have.
    pub(crate) fn check_stages(self, stages: &Stages) -> Result<(), String> {
        let known = self.techniques();
        for rules in stages.iter() {
            let strange = |technique: &&Technique| !known.contains(technique);
            if let Some(strange) = rules.spec.forbids.iter().find(strange) {
                let (number, strange) = (rules.stage.number(), strange.key());
                let known: Vec<&str> = known.iter().map(|technique| technique.key()).collect();
                return Err(format!(
                    "stages.{number}.forbids: candidates in {self} do not use `{strange}`; their \
                     techniques are {}",
                    known.join(", ")
                ));
            }
        }
        Ok(())
    }

    /// `Err` says why outputs of this interface cannot have that bound.
    pub(crate) fn check_bound(self, interface: &Interface, bound: f64) -> Result<(), String> {
        match (self, interface) {
            (Self::Cuda, Interface::Function(function)) => cuda::check_bound(function, bound),
            (Self::C | Self::Cuda | Self::Torch, _) => Ok(()),
        }
    }
}

/// Finds the source in a completion, after its reasoning if it has any.
///
/// # Panics
/// Like all functions here, if the language is not [supported](Language::supported).
pub fn extract(
    language: Language,
    interface: &Interface,
    completion: &str,
) -> Result<Extracted, Malformed> {
    let Some(answer) = reasoning::parts(completion).answer else {
        let why = "the reasoning never ends, so there is no answer: `</think>` is missing";
        return Err(Malformed {
            why: why.to_owned(),
        });
    };
    match (language, interface) {
        (Language::C, Interface::Function(function)) => c::extract(answer, function),
        (Language::Cuda, Interface::Function(function)) => cuda::extract(answer, function),
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
        (Language::Cuda, Interface::Function(function)) => cuda::read(bytes, function),
        _ => unread(language),
    }
}

/// What a candidate must define.
pub fn signature(language: Language, interface: &Interface) -> String {
    match (language, interface) {
        (Language::C, Interface::Function(function)) => c::prototype(function, &function.entry),
        (Language::Cuda, Interface::Function(function)) => cuda::prototype(function),
        _ => unread(language),
    }
}

/// The source without comments and white space.
pub fn normalise(language: Language, source: &str) -> String {
    match language {
        Language::C => c::normalise(source),
        Language::Cuda => cuda::normalise(source),
        Language::Torch => unread(language),
    }
}

/// A sentence about the machine for a prompt. `stage` names the forbidden techniques.
pub fn machine_hint(
    language: Language,
    device: &Device,
    stage: Option<Rules<'_>>,
) -> Option<String> {
    match language {
        Language::C => c::answer::machine_hint(device.simd()?, stage).map(str::to_owned),
        Language::Cuda => cuda::answer::machine_hint(device),
        Language::Torch => unread(language),
    }
}

/// The beginning of an answer to the task of that name, after its fence.
pub fn beginning(
    language: Language,
    name: &str,
    interface: &Interface,
    stage: Option<Rules<'_>>,
) -> String {
    match (language, interface) {
        (Language::C, Interface::Function(function)) => c::answer::beginning(function, stage),
        (Language::Cuda, Interface::Function(_)) => cuda::answer::beginning(name),
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
        assert!(Language::C.supported().is_ok() && Language::Cuda.supported().is_ok());
        assert_eq!(
            Language::Torch.supported().unwrap_err().to_string(),
            "tasks in torch cannot be judged by this version"
        );
    }
}
