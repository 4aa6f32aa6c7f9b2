//! The sources of an answer come in halves, for the host and for the device.

use hotloop_flow::language::cuda::{self, Halves};

use super::message::{Build, shown};
use crate::gpu::host::extension::Sources;

/// Bytes of the sources of one extension.
const SOURCE: usize = 1 << 20;

/// Tensors that kernels take by value; the host half has them from its headers.
const ACCESSORS: (&str, &str) = (
    "PackedTensorAccessor",
    include_str!("shim/torch_accessors.h"),
);

/// A device half with what it uses of torch, on a line before its first.
fn with_accessors(device: String) -> String {
    let (name, text) = ACCESSORS;
    if !device.contains(name) {
        return device;
    }
    let text = text.replace("HOTLOOP_BOTH", "__host__ __device__ inline");
    let text: Vec<&str> = text.lines().map(str::trim).collect();
    format!("{}\n{device}", text.join(" "))
}

/// The sources of an extension in halves.
pub(super) fn sources(build: Build) -> Result<Sources, String> {
    let Build {
        name,
        cpp,
        cuda,
        functions,
    } = build;
    if cpp.len() + cuda.len() > SOURCE {
        return Err(format!("the sources of `{}` are too long", shown(&name)));
    }
    for function in functions.iter().flatten() {
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':');
        if !function.bytes().all(is_word) || function.starts_with("hotloop") {
            return Err(format!("`{}` is no name of a function", shown(function)));
        }
    }
    let of = |text: &str, what: &str| split(text).map_err(|why| format!("{what}: {why}"));
    Ok(Sources {
        cpp: of(&cpp, "cpp_sources")?,
        cuda: of(&cuda, "cuda_sources")?,
        functions,
    })
}

/// A text in two halves, unless its kernels keep something from one run to the next.
pub(super) fn split(text: &str) -> Result<Halves, String> {
    let mut halves = cuda::split(text).map_err(|refusal| refusal.to_string())?;
    halves.device = with_accessors(halves.device);
    match &halves.keeps {
        Some(refusal) => Err(refusal.to_string()),
        None => Ok(halves),
    }
}
