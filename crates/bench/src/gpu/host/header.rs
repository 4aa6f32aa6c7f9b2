//! The recording runtime: its headers, precompiled, and the program around host halves.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hotloop_flow::BenchError;

use super::toolchain::HostToolchain;
use crate::cache::{Cache, own_end};
use crate::compiling::diagnostics::shorten;
use crate::sys;

/// Names and texts of the headers; the first one includes the others.
const HEADERS: [(&str, &str); 8] = [
    ("cuda_host.h", include_str!("header/cuda_host.h")),
    ("types.h", include_str!("header/types.h")),
    ("record.h", include_str!("header/record.h")),
    ("half.h", include_str!("header/half.h")),
    ("calls.h", include_str!("header/calls.h")),
    ("launches.h", include_str!("header/launches.h")),
    ("device_words.h", include_str!("header/device_words.h")),
    ("iostream", include_str!("header/iostream")),
];
const RECORDER: &str = include_str!("recorder.cpp");

/// The recording torch: its first header includes all others.
const TORCH: [(&str, &str); 7] = [
    (
        "torch_host.h",
        include_str!("../../torch/shim/torch_host.h"),
    ),
    (
        "torch_types.h",
        include_str!("../../torch/shim/torch_types.h"),
    ),
    ("torch_accessors.h", ACCESSORS),
    (
        "torch_tensor.h",
        include_str!("../../torch/shim/torch_tensor.h"),
    ),
    (
        "torch_make.h",
        include_str!("../../torch/shim/torch_make.h"),
    ),
    (
        "torch_macros.h",
        include_str!("../../torch/shim/torch_macros.h"),
    ),
    (
        "torch_bind.h",
        include_str!("../../torch/shim/torch_bind.h"),
    ),
];
/// What kernels may take in place of pointers.
const ACCESSORS: &str = include_str!("../../torch/shim/torch_accessors.h");
const CALL: &str = include_str!("../../torch/shim/call.cpp");
/// Headers that sources of extensions name; the recording torch is there before them.
const NAMED: [&str; 62] = [
    "torch/extension.h",
    "torch/torch.h",
    "torch/all.h",
    "torch/types.h",
    "torch/script.h",
    "torch/library.h",
    "torch/python.h",
    "torch/cuda.h",
    "torch/nn.h",
    "torch/csrc/utils/pybind.h",
    "torch/csrc/api/include/torch/all.h",
    "ATen/ATen.h",
    "ATen/Context.h",
    "ATen/Functions.h",
    "ATen/NativeFunctions.h",
    "ATen/TensorUtils.h",
    "ATen/ceil_div.h",
    "ATen/Dispatch.h",
    "ATen/AccumulateType.h",
    "ATen/DeviceGuard.h",
    "ATen/ScalarOps.h",
    "ATen/Tensor.h",
    "ATen/TensorOperators.h",
    "ATen/WrapDimUtils.h",
    "ATen/core/Tensor.h",
    "ATen/core/TensorBody.h",
    "ATen/core/ScalarType.h",
    "ATen/cuda/CUDAContext.h",
    "ATen/cuda/CUDAContextLight.h",
    "ATen/cuda/CUDAUtils.h",
    "ATen/cuda/Exceptions.h",
    "ATen/cuda/CUDAConfig.h",
    "c10/core/Device.h",
    "c10/core/DeviceGuard.h",
    "c10/core/DeviceType.h",
    "c10/core/Layout.h",
    "c10/core/MemoryFormat.h",
    "c10/core/Scalar.h",
    "c10/core/ScalarType.h",
    "c10/core/TensorOptions.h",
    "c10/cuda/CUDAException.h",
    "c10/cuda/CUDAGuard.h",
    "c10/cuda/CUDAStream.h",
    "c10/cuda/CUDAFunctions.h",
    "c10/cuda/CUDAMacros.h",
    "c10/cuda/CUDAMathCompat.h",
    "c10/macros/Export.h",
    "c10/macros/Macros.h",
    "c10/util/ArrayRef.h",
    "c10/util/BFloat16.h",
    "c10/util/Exception.h",
    "c10/util/Half.h",
    "c10/util/Logging.h",
    "c10/util/Optional.h",
    "c10/util/irange.h",
    "c10/util/accumulate.h",
    "pybind11/pybind11.h",
    "pybind11/stl.h",
    "pybind11/numpy.h",
    "pybind11/functional.h",
    "pybind11/pytypes.h",
    "pybind11/cast.h",
];

/// What every host half is compiled with. Nobody runs it for long, so nothing is optimised.
pub(super) const FLAGS: [&str; 8] = [
    "-std=c++17",
    "-O0",
    "-w",
    "-fno-pie",
    "-ffunction-sections",
    "-fdata-sections",
    "-fdiagnostics-color=never",
    "-fmax-errors=8",
];

/// A recording runtime on this machine: headers, and a program without its host half.
pub(super) struct Runtime {
    /// Where its files lie.
    pub(super) folder: PathBuf,
    /// What tells it from others.
    pub(super) key: String,
    first: &'static str,
    program: &'static str,
}

/// What a runtime is made of.
struct Parts {
    headers: Vec<(&'static str, &'static str)>,
    /// The header that is precompiled.
    first: &'static str,
    /// The program's name without its end, and its text.
    program: (&'static str, &'static str),
}

impl Runtime {
    /// The CUDA runtime, made now if this machine has none yet.
    pub(super) fn prepare(toolchain: &HostToolchain, cache: &Cache) -> Result<Self, BenchError> {
        let parts = Parts {
            headers: HEADERS.to_vec(),
            first: HEADERS[0].0,
            program: ("recorder", RECORDER),
        };
        Self::made("cuda-host", &parts, toolchain, cache)
    }

    /// The same with torch in front.
    pub(super) fn prepare_torch(
        toolchain: &HostToolchain,
        cache: &Cache,
    ) -> Result<Self, BenchError> {
        let mut headers = HEADERS.to_vec();
        headers.extend(TORCH);
        headers.extend(NAMED.map(|name| (name, "#pragma once\n")));
        let parts = Parts {
            headers,
            first: TORCH[0].0,
            program: ("call", CALL),
        };
        Self::made("torch-host", &parts, toolchain, cache)
    }

    fn made(
        name: &str,
        parts: &Parts,
        toolchain: &HostToolchain,
        cache: &Cache,
    ) -> Result<Self, BenchError> {
        let mut hasher = blake3::Hasher::new();
        for (name, text) in &parts.headers {
            hasher.update(name.as_bytes());
            hasher.update(text.as_bytes());
        }
        for part in [parts.program.1, &toolchain.identity, &FLAGS.join(" ")] {
            hasher.update(part.as_bytes());
        }
        let key = hasher.finalize().to_hex()[..16].to_owned();
        let runtime = Self {
            folder: cache.path(&format!("{name}-{key}")),
            key,
            first: parts.first,
            program: parts.program.0,
        };
        if !runtime.libraries().exists() {
            runtime.build(parts, toolchain)?;
        }
        Ok(runtime)
    }

    /// The folder that host halves include from.
    pub(super) fn headers(&self) -> PathBuf {
        self.folder.join("header")
    }

    pub(super) fn first_header(&self) -> PathBuf {
        self.headers().join(self.first)
    }

    /// The compiled program without its host half.
    pub(super) fn program(&self) -> PathBuf {
        self.folder.join(format!("{}.o", self.program))
    }

    /// What the program needs from the libraries, in one object; it is made last.
    pub(super) fn libraries(&self) -> PathBuf {
        self.folder.join("libraries.o")
    }

    /// Each file is written beside its place and moved there, so that two benches can do it at
    /// once.
    fn build(&self, parts: &Parts, toolchain: &HostToolchain) -> Result<(), BenchError> {
        let failed = |error: std::io::Error| {
            BenchError::machine(format!("the recording runtime: {error}"))
                .hint(sys::remedy(&error, "free some space"))
        };
        fs_err::create_dir_all(self.headers()).map_err(failed)?;
        let partial = self.folder.join(format!(".part.{}", own_end()));
        let place = |text: &str, at: &Path| {
            at.parent().map_or(Ok(()), fs_err::create_dir_all)?;
            fs_err::write(&partial, text).and_then(|()| fs_err::rename(&partial, at))
        };
        for (name, text) in &parts.headers {
            place(text, &self.headers().join(name)).map_err(failed)?;
        }
        let source = self.folder.join(format!("{}.cpp", self.program));
        place(parts.program.1, &source).map_err(failed)?;
        let first = self.first_header();
        let precompiled = first.with_extension("h.gch");
        for (kind, input, output) in [
            ("c++-header", &first, &precompiled),
            ("c++", &source, &self.program()),
        ] {
            let made = Command::new(&toolchain.path)
                .args(FLAGS)
                .arg("-I")
                .arg(self.headers())
                .args(["-c", "-x", kind])
                .arg(input)
                .arg("-o")
                .arg(&partial)
                .env("LC_ALL", "C")
                .stdin(Stdio::null())
                .output()
                .map_err(failed)?;
            if !made.status.success() {
                drop(std::fs::remove_file(&partial));
                let said = String::from_utf8_lossy(&made.stderr).into_owned();
                return Err(BenchError::machine(format!(
                    "the recording runtime does not compile:\n{}",
                    shorten(&said)
                ))
                .hint("install the C++ library (apt-get install -y g++), or free some space"));
            }
            fs_err::rename(&partial, output).map_err(failed)?;
        }
        let prelinked = toolchain.linking.prelink(&self.program(), &partial);
        prelinked.map_err(|said| {
            drop(std::fs::remove_file(&partial));
            BenchError::machine(format!("the recording runtime cannot be linked: {said}"))
                .hint("install the static C++ and C libraries, or free some space")
        })?;
        fs_err::rename(&partial, self.libraries()).map_err(failed)
    }
}
