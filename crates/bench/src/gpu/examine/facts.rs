//! What decides whether two timings on GPUs are comparable.

use hotloop_flow::machine::Device;

use crate::gpu::driver::{Attribute, Failure, Gpu};
use crate::gpu::examine::nvml::Nvml;

/// The GPU, and how many processes of others use it now, if anybody can say.
pub(super) fn of(gpu: &Gpu) -> Result<(Device, Option<u32>), Failure> {
    let nvml = Nvml::open(&gpu.bus()?);
    let asked = |attribute: Attribute| gpu.attribute(attribute).ok().filter(|value| *value > 0);
    let megahertz = |attribute: Attribute| asked(attribute).map(|khz| khz as u32 / 1000);
    let [clock, memory_clock] = nvml.as_ref().map(Nvml::clocks).unwrap_or_default();
    let version = gpu.driver_version()?;
    let cuda = format!("CUDA {}.{}", version / 1000, version % 1000 / 10);
    let device = Device::Gpu {
        name: gpu.name()?,
        compute_capability: format!(
            "{}.{}",
            gpu.attribute(Attribute::CapabilityMajor)?,
            gpu.attribute(Attribute::CapabilityMinor)?
        ),
        memory_bytes: gpu.memory_bytes()?,
        driver: nvml.as_ref().and_then(Nvml::driver_version).unwrap_or(cuda),
        clock_mhz: clock.or_else(|| megahertz(Attribute::ClockKhz)),
        memory_clock_mhz: memory_clock.or_else(|| megahertz(Attribute::MemoryClockKhz)),
        power_limit_w: nvml.as_ref().and_then(Nvml::power_limit_w),
    };
    let own = std::process::id();
    let others = nvml
        .as_ref()
        .and_then(Nvml::processes)
        .map(|processes| processes.iter().filter(|process| **process != own).count() as u32);
    Ok((device, others))
}
