//! What this machine offers for compiling CUDA, and what it lacks.

use std::path::PathBuf;

use serde::Serialize;

use crate::gpu::compile::nvrtc::Nvrtc;
use crate::gpu::compile::toolkit::{GET, Toolkit};

/// What was found, and what is missing. No GPU is needed for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct CudaSurvey {
    /// NVRTC's library and version.
    pub(crate) nvrtc: Option<PathBuf>,
    pub(crate) version: Option<(u32, u32)>,
    /// The architectures that it compiles for, for example 90.
    pub(crate) architectures: Vec<u32>,
    /// The folders with NVIDIA's headers.
    pub(crate) headers: Vec<PathBuf>,
    /// The compiler that stands in where NVRTC lacks what headers need.
    pub(crate) nvcc: Option<PathBuf>,
    /// What is missing, a sentence each.
    pub(crate) missing: Vec<String>,
    /// How to get it.
    pub(crate) hint: Option<&'static str>,
}

/// Looks, and loads NVRTC to ask for its version.
pub(crate) fn survey() -> CudaSurvey {
    of(Toolkit::find())
}

fn of(toolkit: Toolkit) -> CudaSurvey {
    let mut missing = Vec::new();
    let loaded = toolkit.nvrtc.as_deref().map(|path| {
        Nvrtc::load(path).map_err(|why| format!("{} cannot be loaded: {why}", path.display()))
    });
    let loaded = match loaded {
        None => {
            missing.push("NVRTC (libnvrtc.so) was not found".to_owned());
            None
        }
        Some(Err(why)) => {
            missing.push(why);
            None
        }
        Some(Ok(nvrtc)) => Some(nvrtc),
    };
    let has = |header: &str| {
        toolkit
            .headers
            .iter()
            .any(|folder| folder.join(header).exists())
    };
    for (header, what) in [
        ("cuda_fp16.h", "the CUDA headers"),
        ("crt/mma.h", "the header of tensor cores"),
        (
            "cuda/std/cmath",
            "NVIDIA's C++ library, which cooperative groups need",
        ),
    ] {
        if !has(header) {
            missing.push(format!("{what} ({header}) was not found"));
        }
    }
    CudaSurvey {
        version: loaded.as_ref().map(Nvrtc::version),
        architectures: loaded.as_ref().map_or_else(Vec::new, Nvrtc::architectures),
        hint: (!missing.is_empty()).then_some(GET),
        nvrtc: toolkit.nvrtc,
        headers: toolkit.headers,
        nvcc: toolkit.nvcc,
        missing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_a_compiler_or_a_hint() {
        let found = survey();
        assert_eq!(found.missing.is_empty(), found.hint.is_none());
        assert_eq!(found.version.is_some(), !found.architectures.is_empty());
    }

    #[test]
    fn what_is_missing_is_named_with_its_remedy() {
        let found = of(Toolkit::default());
        assert_eq!(found.missing.len(), 4);
        assert!(
            found.missing[0].contains("libnvrtc.so"),
            "{:?}",
            found.missing
        );
        assert!(
            found
                .hint
                .unwrap()
                .contains("pip install nvidia-cuda-nvrtc")
        );
        let broken = of(Toolkit {
            nvrtc: Some("/nonexistent/libnvrtc.so.13".into()),
            ..Toolkit::default()
        });
        assert!(
            broken.missing[0].contains("cannot be loaded"),
            "{:?}",
            broken.missing
        );
        assert_eq!(broken.version, None);
    }
}
