//! What this machine has for judging CUDA, as far as it has it.

use std::process::Command;
use std::sync::Arc;

use hotloop_flow::{BenchError, Device, Language, MachineFacts};

use crate::cache::Cache;
use crate::cpu::machine::{cpu_name, read_line, simd_level};
use crate::gpu::compile::{self, DeviceCompiler, Toolkit};
use crate::gpu::examine::{Examiner, Options, TorchSite};
use crate::gpu::host::{self, DeviceTraits, Recorder};
use crate::gpu::trusted;
use crate::sandbox::Layers;
use crate::sandbox::user::unprivileged_user;
use crate::scratch::Scratch;
use crate::settings::Settings;

/// Runners that wait for another's death. A second one is ready while the first one's successor
/// opens the GPU.
const SPARES: u32 = 2;
/// Users of the workers come after those of the workers for C.
const USERS: u32 = 100;

/// What this machine has for judging CUDA. What is missing is an error for the jobs that need it.
pub(crate) struct Site {
    pub(crate) settings: Settings,
    pub(crate) facts: MachineFacts,
    drops_root: bool,
    recorder: Result<Recorder, BenchError>,
    compiler: Result<DeviceCompiler, BenchError>,
}

impl Site {
    /// Examines the machine and prepares what it has. The examiner needs a GPU.
    pub(crate) fn prepare(
        settings: Settings,
    ) -> Result<(Self, Result<Examiner, BenchError>), BenchError> {
        let layers = Layers::probe(&settings.roles, &settings.without);
        if !layers.seccomp {
            return Err(BenchError::machine(
                "seccomp is missing here, and without it no candidate runs",
            )
            .hint("use a kernel with CONFIG_SECCOMP_FILTER, or a container that allows seccomp"));
        }
        let cache = Cache::open()?;
        let scratch = Arc::new(Scratch::new()?);
        let compiler = DeviceCompiler::open(compile::Opening {
            toolkit: Toolkit::find(),
            roles: &settings.roles,
            cache: cache.clone(),
            scratch: Arc::clone(&scratch),
            landlock: layers.landlock.is_some(),
            reuse: settings.reuse,
            capability: capability(),
        });
        let examiner = match &compiler {
            Ok(compiler) => examiner(&settings, compiler, None),
            Err(error) => Err(error.clone()),
        };
        let device = examiner
            .as_ref()
            .map(|examiner| examiner.facts().device.clone());
        let recorder = Recorder::open(host::Opening {
            roles: &settings.roles,
            cache,
            scratch,
            landlock: layers.landlock.is_some(),
            traits: device.as_ref().map(traits).unwrap_or_default(),
        });
        let facts = facts(&layers, compiler.as_ref().ok(), examiner.as_ref().ok());
        let site = Self {
            settings,
            facts,
            drops_root: layers.drops_root,
            recorder,
            compiler,
        };
        Ok((site, examiner))
    }

    pub(crate) fn recorder(&self) -> Result<&Recorder, BenchError> {
        self.recorder.as_ref().map_err(Clone::clone)
    }

    pub(crate) fn compiler(&self) -> Result<&DeviceCompiler, BenchError> {
        self.compiler.as_ref().map_err(Clone::clone)
    }

    /// The user that worker `index` compiles and records as.
    pub(crate) fn user(&self, index: u32) -> Option<u32> {
        self.drops_root.then(|| unprivileged_user(USERS + index))
    }
}

/// Starts an examiner. Only modules need torch.
pub(crate) fn examiner(
    settings: &Settings,
    compiler: &DeviceCompiler,
    torch: Option<TorchSite>,
) -> Result<Examiner, BenchError> {
    let names = trusted::NAMES.map(str::to_owned);
    Examiner::start(Options {
        roles: settings.roles.clone(),
        trusted: compiler.trusted("the examiner's code", trusted::SOURCE, &names)?,
        seccomp: true,
        spares: SPARES,
        torch,
    })
}

/// The compute capability of the first GPU. Nothing of a GPU is opened for it, because this process
/// starts others.
pub(crate) fn capability() -> Option<(u32, u32)> {
    let asked = Command::new("nvidia-smi")
        .args(["--query-gpu=compute_cap", "--format=csv,noheader"])
        .output()
        .ok()?;
    parse_capability(&String::from_utf8_lossy(&asked.stdout))
}

fn parse_capability(said: &str) -> Option<(u32, u32)> {
    let (major, minor) = said.lines().next()?.trim().split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// The facts that host code gets about a GPU. Unknown ones are those of an H200.
pub(crate) fn traits(device: &Device) -> DeviceTraits {
    let mut traits = DeviceTraits::default();
    if let Device::Gpu {
        name,
        compute_capability,
        memory_bytes,
        ..
    } = device
    {
        traits.name.clone_from(name);
        traits.memory_bytes = *memory_bytes;
        if let Some(capability) = parse_capability(compute_capability) {
            traits.compute_capability = capability;
        }
    }
    traits
}

fn facts(
    layers: &Layers,
    compiler: Option<&DeviceCompiler>,
    examiner: Option<&Examiner>,
) -> MachineFacts {
    let device = examiner.map_or_else(
        || Device::Cpu {
            name: format!("{}, no GPU", cpu_name()),
            simd: simd_level().to_owned(),
            cores: crate::sys::affinity(0).map_or(1, |cores| cores.len() as u32),
        },
        |examiner| examiner.facts().device.clone(),
    );
    let compiler = compiler.map_or_else(|| "no NVRTC".to_owned(), DeviceCompiler::version);
    let cublas = examiner.and_then(|examiner| examiner.facts().cublas.clone());
    let mut hasher = blake3::Hasher::new();
    let described = serde_json::to_string(&device).unwrap_or_default();
    for part in [Language::Cuda.name(), &described, &compiler] {
        hasher.update(part.as_bytes());
        hasher.update(b"\0");
    }
    MachineFacts {
        class: hasher.finalize().to_hex()[..12].to_owned(),
        device,
        kernel: read_line("/proc/sys/kernel/osrelease"),
        compiler,
        libraries: cublas
            .map(|version| ("cublas".to_owned(), version))
            .into_iter()
            .collect(),
        sandbox: layers.names(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capability_is_read_from_its_first_line() {
        assert_eq!(parse_capability("9.0\n8.0\n"), Some((9, 0)));
        assert_eq!(parse_capability("12.1"), Some((12, 1)));
        assert_eq!(parse_capability("NVIDIA-SMI has failed"), None);
        assert_eq!(parse_capability(""), None);
    }

    #[test]
    fn host_code_is_told_of_the_gpu_that_is_there() {
        let gpu = Device::Gpu {
            name: "NVIDIA A100".to_owned(),
            compute_capability: "8.0".to_owned(),
            memory_bytes: 40 << 30,
            driver: String::new(),
            clock_mhz: None,
            memory_clock_mhz: None,
            power_limit_w: None,
        };
        let told = traits(&gpu);
        assert_eq!(
            (told.name.as_str(), told.compute_capability),
            ("NVIDIA A100", (8, 0))
        );
        assert_eq!(told.memory_bytes, 40 << 30);
        assert_eq!(traits(&Device::default()), DeviceTraits::default());
    }
}
