//! The facts about this machine, for verdicts and `doctor`.

use std::sync::Arc;

use hotloop_flow::{BenchError, Device, MachineFacts, Remedy};

use crate::cache::Cache;
use crate::cores::{self, Core};
use crate::cpu::blas::{self, OpenBlas};
use crate::cpu::compile::Builder;
use crate::cpu::toolchain::Toolchain;
use crate::sandbox::Layers;
use crate::scratch::Scratch;
use crate::settings::Settings;

/// A machine that is ready to judge.
pub(crate) struct Machine {
    pub(crate) settings: Settings,
    pub(crate) layers: Layers,
    pub(crate) cores: Vec<Core>,
    pub(crate) openblas: Option<OpenBlas>,
    pub(crate) builder: Builder,
    pub(crate) facts: MachineFacts,
    pub(crate) cache: Cache,
}

impl Machine {
    /// Examines the machine and prepares it for judging.
    pub(crate) fn prepare(settings: Settings) -> Result<Self, BenchError> {
        let layers = Layers::probe(&settings.roles, &settings.without);
        if !layers.seccomp {
            return Err(BenchError::machine(
                "seccomp is missing here, and without it no candidate runs",
            )
            .hint("use a kernel with CONFIG_SECCOMP_FILTER, or a container that allows seccomp"));
        }
        let cache = Cache::open()?;
        let (compiler, path) = (settings.how.compiler, settings.compiler_path.as_deref());
        let toolchain = if settings.reuse {
            Toolchain::known(&cache, compiler, path)?
        } else {
            Toolchain::find(compiler, path)?
        };
        let cores = cores::usable();
        if settings.how.threads as usize > cores.len() {
            return Err(BenchError::user(format!(
                "{} threads were asked for, but only {} cores may be used",
                settings.how.threads,
                cores.len()
            ))
            .hint(format!("use at most {} threads", cores.len()))
            .remedies(&[Remedy::Threads]));
        }
        let openblas = if settings.reuse {
            blas::known(&cache, &settings.roles)
        } else {
            blas::find(&settings.roles)
        };
        let scratch = Arc::new(Scratch::new()?);
        let has_landlock = layers.landlock.is_some();
        let builder = Builder::new(toolchain, &settings, cache.clone(), scratch, has_landlock)?;
        let facts = facts(builder.toolchain(), &layers, &cores, openblas.as_ref());
        Ok(Self {
            settings,
            layers,
            cores,
            openblas,
            builder,
            facts,
            cache,
        })
    }
}

fn facts(
    toolchain: &Toolchain,
    layers: &Layers,
    cores: &[Core],
    openblas: Option<&OpenBlas>,
) -> MachineFacts {
    let logical = cores.iter().map(|core| core.siblings.len()).sum::<usize>() as u32;
    let (name, simd) = (cpu_name(), simd_level());
    let mut hasher = blake3::Hasher::new();
    for part in [&name, simd, &logical.to_string(), &toolchain.identity] {
        hasher.update(part.as_bytes());
        hasher.update(b"\0");
    }
    let libraries = openblas.map(|blas| {
        let version = format!("{} ({})", file_version(&blas.path), blas.core);
        (MachineFacts::OPENBLAS.to_owned(), version)
    });
    MachineFacts {
        class: hasher.finalize().to_hex()[..12].to_owned(),
        device: Device::Cpu {
            name,
            simd: simd.to_owned(),
            cores: logical,
        },
        kernel: read_line("/proc/sys/kernel/osrelease"),
        compiler: toolchain.version.clone(),
        libraries: libraries.into_iter().collect(),
        sandbox: layers.names(),
    }
}

/// The widest vector level of this CPU.
pub(crate) fn simd_level() -> &'static str {
    if std::arch::is_x86_feature_detected!("avx512f") {
        "avx512"
    } else if std::arch::is_x86_feature_detected!("avx2")
        && std::arch::is_x86_feature_detected!("fma")
    {
        "avx2"
    } else {
        "sse2"
    }
}

/// The system's name of the CPU, with numbers that distinguish nameless virtual CPUs.
pub(crate) fn cpu_name() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        text.lines()
            .find_map(|line| line.split_once(':').filter(|(key, _)| key.trim() == name))
            .map_or("?", |(_, value)| value.trim())
    };
    format!(
        "{} (family {} model {})",
        field("model name"),
        field("cpu family"),
        field("model")
    )
}

/// The first word of a file of the kernel.
pub(crate) fn read_line(path: &str) -> String {
    std::fs::read_to_string(path)
        .map(|text| text.trim().to_owned())
        .unwrap_or_default()
}

/// The real file behind a library's name, which usually contains its version.
fn file_version(path: &std::path::Path) -> String {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    real.file_name()
        .map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}
