//! The kernels' sources. NVRTC compiles them when the device is opened.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use cudarc::nvrtc::{CompileError, CompileOptions, Ptx, compile_ptx_with_opts};

use super::error::{Error, Result};
use crate::precision::Precision;

/// All files, in the order in which they are compiled as one.
const SOURCES: [(&str, &str); 14] = [
    ("common.cu", include_str!("kernels/common.cu")),
    ("norm.cu", include_str!("kernels/norm.cu")),
    ("rope.cu", include_str!("kernels/rope.cu")),
    ("mlp.cu", include_str!("kernels/mlp.cu")),
    ("attention.cu", include_str!("kernels/attention.cu")),
    ("tensor.cu", include_str!("kernels/tensor.cu")),
    ("flash.cu", include_str!("kernels/flash.cu")),
    ("thin.cu", include_str!("kernels/thin.cu")),
    ("decode.cu", include_str!("kernels/decode.cu")),
    ("decode_flash.cu", include_str!("kernels/decode_flash.cu")),
    ("lora.cu", include_str!("kernels/lora.cu")),
    ("loss.cu", include_str!("kernels/loss.cu")),
    ("optim.cu", include_str!("kernels/optim.cu")),
    ("sample.cu", include_str!("kernels/sample.cu")),
];

/// The files of the decode step's kernels. They are compiled if `auto` decodes with them.
const STEP_SOURCES: [(&str, &str); 8] = [
    ("common.cu", include_str!("kernels/common.cu")),
    ("tensor.cu", include_str!("kernels/tensor.cu")),
    ("decode.cu", include_str!("kernels/decode.cu")),
    ("decode_flash.cu", include_str!("kernels/decode_flash.cu")),
    ("sample.cu", include_str!("kernels/sample.cu")),
    ("decode_tile.cu", include_str!("kernels/decode_tile.cu")),
    (
        "decode_product.cu",
        include_str!("kernels/decode_product.cu"),
    ),
    ("decode_step.cu", include_str!("kernels/decode_step.cu")),
];

/// Head widths that the tensor-core attention supports.
const FLASH_DIMS: [usize; 5] = [16, 32, 64, 96, 128];

/// Whether attention of such heads runs on tensor cores.
pub(super) fn has_flash(precision: Precision, head_dim: usize) -> bool {
    precision == Precision::Bf16 && FLASH_DIMS.contains(&head_dim)
}

/// The tensor-core kernel for attention of new tokens with such heads, if there is one.
pub(super) fn decode_flash(precision: Precision, head_dim: usize) -> Option<&'static str> {
    match (precision, head_dim) {
        (Precision::Bf16, 64) => Some("decode_flash_64"),
        (Precision::Bf16, 128) => Some("decode_flash_128"),
        _ => None,
    }
}

/// Kernels that this process has compiled, by their options.
type Compiled = HashMap<Vec<String>, String>;
static COMPILED: Mutex<Option<Compiled>> = Mutex::new(None);

/// Compiles all kernels for a compute capability, once per process.
pub(super) fn compile(
    precision: Precision,
    head_dim: usize,
    capability: (i32, i32),
) -> Result<(Ptx, Duration)> {
    let mut options = Vec::new();
    if precision == Precision::F32 {
        options.push("-DHOTLOOP_F32".into());
    }
    if has_flash(precision, head_dim) {
        options.push(format!("-DHEAD_DIM={head_dim}"));
    }
    build(&SOURCES, capability, options)
}

/// The same for the kernels of a decode step.
pub(super) fn compile_step(head_dim: usize, capability: (i32, i32)) -> Result<(Ptx, Duration)> {
    let options = vec![
        format!("-DHEAD_DIM={head_dim}"),
        "-DHOTLOOP_STEP".to_owned(),
    ];
    build(&STEP_SOURCES, capability, options)
}

/// Compiles the files. Each has its own line count, so that an error names file and line.
fn build(
    sources: &[(&str, &str)],
    capability: (i32, i32),
    more: Vec<String>,
) -> Result<(Ptx, Duration)> {
    let start = Instant::now();
    let arch = format!("compute_{}{}", capability.0, capability.1);
    let mut options = vec![
        "--std=c++17".to_owned(),
        format!("--gpu-architecture={arch}"),
    ];
    options.extend(more);
    let mut known = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    let known = known.get_or_insert_default();
    if let Some(ptx) = known.get(&options) {
        return Ok((Ptx::from_src(ptx.clone()), start.elapsed()));
    }
    let mut source = String::new();
    for (name, text) in sources {
        source.extend(["#line 1 \"", name, "\"\n", text, "\n"]);
    }
    let key = options.clone();
    let compiled = compile_ptx_with_opts(
        source,
        CompileOptions {
            options,
            ..CompileOptions::default()
        },
    );
    match compiled {
        Ok(ptx) => {
            known.insert(key, ptx.to_src());
            Ok((ptx, start.elapsed()))
        }
        Err(CompileError::CompileError { log, .. }) => Err(Error::Compile {
            arch,
            log: log.to_string_lossy().into_owned(),
        }),
        Err(other) => Err(Error::Compile {
            arch,
            log: other.to_string(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuda::libraries::nvrtc_present;

    #[test]
    fn every_kernel_compiles() {
        if !nvrtc_present() {
            println!(
                "skipped: libnvrtc was not found (pip install nvidia-cuda-nvrtc, set \
                 LD_LIBRARY_PATH)"
            );
            return;
        }
        for (precision, head_dim) in [
            (Precision::F32, 64),
            (Precision::Bf16, 64),
            (Precision::Bf16, 128),
        ] {
            let (ptx, took) = compile(precision, head_dim, (9, 0)).unwrap();
            let ptx = ptx.to_src();
            println!(
                "{precision:?} heads of {head_dim}: {} bytes of PTX in {took:?}",
                ptx.len()
            );
            assert!(ptx.contains("decode_attention") && ptx.contains("adamw"));
            assert_eq!(
                ptx.contains(&format!("flash_dkv_{head_dim}")),
                precision == Precision::Bf16
            );
        }
    }

    #[test]
    fn every_kernel_of_a_step_compiles() {
        if !nvrtc_present() {
            println!(
                "skipped: libnvrtc was not found (pip install nvidia-cuda-nvrtc, set \
                 LD_LIBRARY_PATH)"
            );
            return;
        }
        for head_dim in [64, 128] {
            let (ptx, took) = compile_step(head_dim, (9, 0)).unwrap();
            let ptx = ptx.to_src();
            println!(
                "heads of {head_dim}: {} bytes of PTX in {took:?}",
                ptx.len()
            );
            assert!(ptx.contains("step_gate_64") && ptx.contains("step_attention"));
            assert!(ptx.contains("griddepcontrol.wait"));
        }
    }
}
