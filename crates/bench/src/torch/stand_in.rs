//! The stand-in for torch as files that an interpreter imports.

use std::path::{Path, PathBuf};

use hotloop_flow::BenchError;

use crate::cache::{Cache, own_end};
use crate::sys;

/// The program that the interpreter runs.
const PROGRAM: &str = "play.py";

/// Names and texts.
const FILES: [(&str, &str); 29] = [
    (PROGRAM, include_str!("stand_in/play.py")),
    ("link.py", include_str!("stand_in/link.py")),
    ("work.py", include_str!("stand_in/work.py")),
    ("sealed.py", include_str!("stand_in/sealed.py")),
    ("screen.py", include_str!("stand_in/screen.py")),
    ("surroundings.py", include_str!("stand_in/surroundings.py")),
    (
        "torch/__init__.py",
        include_str!("stand_in/torch/__init__.py"),
    ),
    ("torch/_types.py", include_str!("stand_in/torch/_types.py")),
    (
        "torch/_memory.py",
        include_str!("stand_in/torch/_memory.py"),
    ),
    (
        "torch/_tensor.py",
        include_str!("stand_in/torch/_tensor.py"),
    ),
    (
        "torch/_shapes.py",
        include_str!("stand_in/torch/_shapes.py"),
    ),
    (
        "torch/_operations.py",
        include_str!("stand_in/torch/_operations.py"),
    ),
    ("torch/amp.py", include_str!("stand_in/torch/amp.py")),
    (
        "torch/compiler.py",
        include_str!("stand_in/torch/compiler.py"),
    ),
    ("torch/jit.py", include_str!("stand_in/torch/jit.py")),
    (
        "torch/version.py",
        include_str!("stand_in/torch/version.py"),
    ),
    ("torch/cuda.py", include_str!("stand_in/torch/cuda.py")),
    (
        "torch/autograd.py",
        include_str!("stand_in/torch/autograd.py"),
    ),
    (
        "torch/backends.py",
        include_str!("stand_in/torch/backends.py"),
    ),
    (
        "torch/utils/__init__.py",
        include_str!("stand_in/torch/utils/__init__.py"),
    ),
    (
        "torch/utils/_flags.py",
        include_str!("stand_in/torch/utils/_flags.py"),
    ),
    (
        "torch/utils/cpp_extension.py",
        include_str!("stand_in/torch/utils/cpp_extension.py"),
    ),
    (
        "torch/nn/__init__.py",
        include_str!("stand_in/torch/nn/__init__.py"),
    ),
    (
        "torch/nn/module.py",
        include_str!("stand_in/torch/nn/module.py"),
    ),
    (
        "torch/nn/layers.py",
        include_str!("stand_in/torch/nn/layers.py"),
    ),
    (
        "torch/nn/functional.py",
        include_str!("stand_in/torch/nn/functional.py"),
    ),
    (
        "torch/nn/init.py",
        include_str!("stand_in/torch/nn/init.py"),
    ),
    (
        "torch/nn/modules.py",
        include_str!("stand_in/torch/nn/modules.py"),
    ),
    (
        "torch/nn/parameter.py",
        include_str!("stand_in/torch/nn/parameter.py"),
    ),
];

/// Where the stand-in lies on this machine.
pub(super) struct StandIn {
    pub(super) folder: PathBuf,
}

impl StandIn {
    /// Written now if this machine has none yet.
    pub(super) fn prepare(cache: &Cache) -> Result<Self, BenchError> {
        let mut hasher = blake3::Hasher::new();
        for (name, text) in FILES {
            hasher.update(name.as_bytes());
            hasher.update(text.as_bytes());
        }
        let key = &hasher.finalize().to_hex()[..16];
        let stand_in = Self {
            folder: cache.path(&format!("torch-stand-in-{key}")),
        };
        stand_in.write().map_err(|error| {
            BenchError::machine(format!("the stand-in for torch: {error}"))
                .hint(sys::remedy(&error, "free some space"))
        })?;
        Ok(stand_in)
    }

    pub(super) fn program(&self) -> PathBuf {
        self.folder.join(PROGRAM)
    }

    /// Each file is written beside its place and moved there, so that two benches can do it at
    /// once. The program is written last.
    fn write(&self) -> std::io::Result<()> {
        if self.program().exists() {
            return Ok(());
        }
        fs_err::create_dir_all(&self.folder)?;
        let partial = self.folder.join(format!(".part.{}", own_end()));
        for (name, text) in FILES.iter().rev() {
            let place = self.folder.join(name);
            fs_err::create_dir_all(place.parent().unwrap_or(Path::new(".")))?;
            fs_err::write(&partial, text)?;
            fs_err::rename(&partial, place)?;
        }
        Ok(())
    }
}
