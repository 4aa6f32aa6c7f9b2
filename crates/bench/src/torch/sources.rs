//! The sources of an answer come in halves, for the host and for the device.

use hotloop_flow::language::cuda::{self, Halves};

use super::message::{Build, shown};
use crate::gpu::host::extension::Sources;

/// Bytes of the sources of one extension.
const SOURCE: usize = 1 << 20;

/// Tensors that kernels take by value, and the types of sums; the host half has them from its headers.
const ACCESSORS: &str = include_str!("shim/torch_accessors.h");
/// What else torch's headers give to code for the GPU.
const DEVICE: &str = include_str!("shim/torch_device.h");
const TUPLE: &str = include_str!("shim/device_tuple.h");
/// Macros, one a line. A text has to hold those that it uses before it is split, because they say
/// which half a function belongs to.
const WORDS: &str = include_str!("shim/torch_words.h");

/// The header that a line includes, if it does nothing else.
fn included(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start();
    let name = rest.strip_prefix("include")?.trim_start();
    let (name, rest) = name.strip_prefix(['<', '"'])?.split_once(['>', '"'])?;
    let rest = rest.trim();
    let is_whole = rest.is_empty() || rest.starts_with("//") && !rest.ends_with('\\');
    is_whole.then_some(name)
}

/// A text without includes of torch's headers, which are there before the first line, and with
/// torch's macros.
fn with_torch(text: &str) -> String {
    let is_gone = |line: &str| included(line).is_some_and(cuda::is_torch);
    let lines = text.split('\n');
    let lines: Vec<&str> = lines
        .map(|line| if is_gone(line) { "" } else { line })
        .collect();
    let used = WORDS.lines().filter(|line| {
        let word = line.strip_prefix("#define ").unwrap_or_default();
        let is_of_name = |byte: char| byte.is_ascii_alphanumeric() || byte == '_';
        let name = word.split(|byte| !is_of_name(byte)).next();
        name.is_some_and(|name| {
            !name.is_empty() && text.contains(name) && !text.contains(&format!("define {name}"))
        })
    });
    let used: Vec<&str> = used.collect();
    behind(used, &lines.join("\n"))
}

/// A text with the headers of CUB that it uses in place of the one that includes all, which NVRTC
/// does not compile.
fn with_parts_of_cub(text: &str) -> String {
    const ALL: &str = "cub/cub.cuh";
    const PARTS: [(&str, &str); 10] = [
        ("BlockExchange", "block/block_exchange"),
        ("BlockLoad", "block/block_load"),
        ("BlockMergeSort", "block/block_merge_sort"),
        ("BlockRadixSort", "block/block_radix_sort"),
        ("BlockReduce", "block/block_reduce"),
        ("BlockScan", "block/block_scan"),
        ("BlockStore", "block/block_store"),
        ("WarpMergeSort", "warp/warp_merge_sort"),
        ("WarpReduce", "warp/warp_reduce"),
        ("WarpScan", "warp/warp_scan"),
    ];
    let used = PARTS.iter().filter(|(name, _)| text.contains(name));
    let used: Vec<String> = used
        .map(|(_, part)| format!("#include <cub/{part}.cuh>"))
        .collect();
    if used.is_empty() || !text.contains(ALL) {
        return text.to_owned();
    }
    let used = used.join("\n");
    let lines = text.split('\n').map(|line| {
        let is_all = included(line).is_some_and(|name| name == ALL);
        if is_all { &*used } else { line }
    });
    lines.collect::<Vec<&str>>().join("\n")
}

/// A device half with what it uses of torch and of the host's library before it.
fn with_types(device: &str) -> String {
    let names = |words: &[&str]| words.iter().any(|word| device.contains(word));
    let (mut lines, mut accessors) = (Vec::new(), String::new());
    if names(&["at::", "c10::", "torch::", "WARP_SHFL", "gpuAtomicAdd"]) {
        lines.extend(DEVICE.lines().map(str::trim));
        accessors = ACCESSORS.replace("HOTLOOP_BOTH", "__host__ __device__ inline");
    }
    lines.extend(accessors.lines().map(str::trim));
    if names(&["tuple", "std::tie", "std::get"]) {
        lines.extend(TUPLE.lines().map(str::trim));
    }
    let is_code = |line: &&str| !line.is_empty() && !line.starts_with("//");
    lines.retain(is_code);
    behind(lines, device)
}

/// A text behind other lines. They take the place of its first empty ones, so that messages name
/// the right lines where they can.
fn behind(lines: Vec<&str>, text: &str) -> String {
    if lines.is_empty() {
        return text.to_owned();
    }
    let mut joined: Vec<String> = Vec::new();
    let mut may_join = false;
    for line in lines {
        let is_directive = line.starts_with('#');
        match joined.last_mut() {
            Some(last) if may_join && !is_directive => {
                last.push(' ');
                last.push_str(line);
            }
            _ => joined.push(line.to_owned()),
        }
        may_join = !is_directive;
    }
    let is_empty = |line: &&str| line.trim().is_empty();
    let empty = text.split('\n').take_while(is_empty).count();
    let last = text.split('\n').count() - 1;
    let replaced = empty.min(joined.len()).min(last);
    joined.extend(text.split('\n').skip(replaced).map(str::to_owned));
    joined.join("\n")
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
    let of =
        |text: &str, what: &str| split(&with_torch(text)).map_err(|why| format!("{what}: {why}"));
    Ok(Sources {
        cpp: of(&cpp, "cpp_sources")?,
        cuda: of(&cuda, "cuda_sources")?,
        functions,
    })
}

/// A text in two halves, unless its kernels keep something from one run to the next.
pub(super) fn split(text: &str) -> Result<Halves, String> {
    let mut halves =
        cuda::split(&with_parts_of_cub(text)).map_err(|refusal| refusal.to_string())?;
    halves.device = with_types(&halves.device);
    match &halves.keeps {
        Some(refusal) => Err(refusal.to_string()),
        None => Ok(halves),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn torchs_headers_go_and_its_macros_come_where_lines_are_empty() {
        let text = "\n#include <torch/extension.h>\n# include \"ATen/Any.h\" // all\nint a;\n";
        assert_eq!(with_torch(text), "\n\n\nint a;\n");
        let kept = "#include <torch/a.h> /* b\n*/\n#include <cmath>\n";
        assert_eq!(with_torch(kept), kept);
        let text = "\n\nC10_DEVICE int f();\n";
        let with = "#define C10_DEVICE __device__\n\nC10_DEVICE int f();\n";
        assert_eq!(with_torch(text), with);
        assert_eq!(with_torch(with), with, "its own");
    }

    #[test]
    fn the_header_of_all_of_cub_becomes_those_of_its_parts() {
        let text = "#include <cub/cub.cuh>\ncub::BlockReduce<float, 256> a;\n";
        let with = "#include <cub/block/block_reduce.cuh>\ncub::BlockReduce<float, 256> a;\n";
        assert_eq!(with_parts_of_cub(text), with);
        let library = "#include <cub/cub.cuh>\ncub::DeviceReduce::Sum(a);\n";
        assert_eq!(with_parts_of_cub(library), library);
    }

    #[test]
    fn device_halves_get_the_types_that_they_name() {
        assert_eq!(with_types("\n\nint a;"), "\n\nint a;");
        let lines = |text: &str| text.split('\n').map(str::to_owned).collect::<Vec<_>>();
        let with = lines(&with_types("\n\n\nat::Half a;"));
        assert_eq!(with.len(), 4);
        assert!(with[0].starts_with("#include") && with[2].contains("acc_type"));
        assert_eq!(with[3], "at::Half a;");
        assert_eq!(lines(&with_types("std::tuple<int> a;")).len(), 2);
    }
}
