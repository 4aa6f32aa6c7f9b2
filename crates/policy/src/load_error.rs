//! Why a model could not be loaded: the file, the key or tensor, and the remedy if one is known.

use std::io::Read;
use std::path::{Path, PathBuf};

/// A file that could not be loaded, and why.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", path.display())]
pub struct LoadError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub problem: Problem,
}

/// What is wrong with a file.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// It cannot be read.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// It is a Git LFS pointer, not the file itself.
    #[error("a pointer of Git LFS, not the file itself: `git lfs pull` in its folder fetches that")]
    Pointer,
    /// The user should name its folder.
    #[error("a file of a model: name its folder")]
    PartOfModel,
    /// The weights are in a format that the engine cannot read.
    #[error(
        "there is none, and {0} cannot be read: take the model's safetensors or a GGUF file of it, \
         or convert it with `save_pretrained` of Hugging Face's library"
    )]
    OtherWeights(String),
    /// It is not the expected JSON.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    #[error("no key `{0}`")]
    MissingKey(String),
    /// A key has a value the engine cannot use.
    #[error("`{key}` is {found}, but {wanted}")]
    BadKey {
        key: String,
        /// Its value.
        found: String,
        /// What it should be.
        wanted: String,
    },
    /// The engine does not know the architecture.
    #[error("architecture `{0}` is unknown: the engine runs llama, qwen2 (also 2.5) and qwen3")]
    UnknownArchitecture(String),
    /// The sizes in the configuration contradict each other.
    #[error("{0}")]
    BadShape(String),
    #[error("no tensor `{0}`: is every shard there?")]
    MissingTensor(String),
    /// A tensor's shape contradicts the configuration.
    #[error("tensor `{name}` has shape {found:?}, the configuration wants {wanted:?}")]
    WrongShape {
        /// The tensor.
        name: String,
        /// Its shape.
        found: Vec<usize>,
        /// The shape it should have.
        wanted: Vec<usize>,
    },
    /// A tensor is stored in a way the engine cannot read.
    #[error(
        "tensor `{name}` is stored as {kind}: convert it to F32, F16, BF16 or, in GGUF, Q4_0, \
         Q4_1, Q5_0, Q8_0, Q4_K, Q5_K or Q6_K"
    )]
    UnknownKind {
        /// The tensor.
        name: String,
        /// How it is stored.
        kind: String,
    },
    /// The file ends early or its header is broken.
    #[error("{0}: the file is truncated or damaged, fetch it again")]
    Damaged(String),
    /// There is no tokenizer, or one of an unknown kind.
    #[error("{0}")]
    Tokenizer(String),
}

/// The beginning of a Git LFS pointer.
const POINTER: &[u8] = b"version https://git-lfs";

impl Problem {
    /// This problem in that file. If the content makes no sense, it may be a Git LFS pointer.
    pub fn at(self, path: &Path) -> LoadError {
        let problem = match self {
            Self::Damaged(_) | Self::Json(_) | Self::Tokenizer(_) if is_pointer(path) => {
                Self::Pointer
            }
            Self::Io(error) => Self::Io(once(error, path)),
            other => other,
        };
        LoadError {
            path: path.to_owned(),
            problem,
        }
    }
}

/// The same error without the file name, because both `fs_err` and `LoadError` add it.
fn once(error: std::io::Error, path: &Path) -> std::io::Error {
    match error
        .to_string()
        .split_once(&format!("`{}`: ", path.display()))
    {
        Some((_, why)) => std::io::Error::new(error.kind(), why),
        None => error,
    }
}

fn is_pointer(path: &Path) -> bool {
    let mut begin = [0; POINTER.len()];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut begin));
    read.is_ok() && begin == POINTER
}
