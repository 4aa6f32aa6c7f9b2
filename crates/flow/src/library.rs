//! The libraries that tasks are compared with.

use serde::{Deserialize, Serialize};

use crate::language::Language;

/// A library that does a task's operation, as its baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Library {
    /// OpenBLAS, through its C interface. The task's file `baseline` calls it.
    Openblas,
    /// `cublasSgemm`, for row-major `C = A B` with the arguments `A, B, C, N`. The bench calls it.
    CublasSgemm,
    /// `cublasSgeam`, which transposes. The bench calls it.
    CublasSgeam,
}

impl Library {
    /// The key in `task.toml`.
    pub fn key(self) -> &'static str {
        match self {
            Self::Openblas => "openblas",
            Self::CublasSgemm => "cublas-sgemm",
            Self::CublasSgeam => "cublas-sgeam",
        }
    }

    /// The name of the baseline in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Openblas => "OpenBLAS",
            Self::CublasSgemm | Self::CublasSgeam => "cuBLAS",
        }
    }

    /// The language of the tasks that it can be compared with.
    pub fn language(self) -> Language {
        match self {
            Self::Openblas => Language::C,
            Self::CublasSgemm | Self::CublasSgeam => Language::Cuda,
        }
    }

    /// Whether a file of the task calls it. The bench calls the others itself.
    pub fn needs_file(self) -> bool {
        self == Self::Openblas
    }
}
