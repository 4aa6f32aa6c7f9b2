//! What the GPU can do at most: bytes that it copies and operations that it computes in a second.

use hotloop_flow::measured::{Roof, Work as Counted};

use crate::gpu::driver::Failure;
use crate::gpu::examine::station::Station;
use crate::gpu::examine::work::Trouble;

/// Bytes that are copied, or a part of the GPU's memory.
const COPIED: u64 = 256 << 20;
const PART: u64 = 64;
/// Steps of the arithmetic kernel.
const ROUNDS: u32 = 4096;
const RUNS: usize = 5;
/// How much faster than a copy memory may seem: the cache keeps some of what is written.
const MEMORY_MARGIN: f64 = 1.5;
/// How much faster than multiply-add in float results as exact can be: by tensor cores, which do
/// sixteen times as many operations at lower precision.
const ARITHMETIC_MARGIN: f64 = 16.0;

/// The best that was ever measured, until it is forgotten.
#[derive(Debug, Default)]
pub(super) struct Roofs {
    known: Option<(f64, f64)>,
    /// Whether to measure again and keep the better.
    stale: bool,
}

impl Roofs {
    /// Has them measured again before they are used.
    pub(super) fn forget(&mut self) {
        self.stale = true;
    }

    /// The limits of the timed call.
    pub(super) fn limit(&mut self, station: &Station, counted: &Counted) -> Result<Limit, Trouble> {
        let (bandwidth, flops) = match self.known {
            Some(known) if !self.stale => known,
            known => {
                let (bandwidth, flops) = (bandwidth(station)?, flops(station)?);
                let best = known.unwrap_or_default();
                (bandwidth.max(best.0), flops.max(best.1))
            }
        };
        self.known = Some((bandwidth, flops));
        self.stale = false;
        Ok(Limit::new(counted, bandwidth, flops))
    }
}

/// The least time for some work, and the least that can be believed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Limit {
    roof: Roof,
    floor_s: f64,
}

impl Limit {
    fn new(counted: &Counted, bandwidth: f64, flops: f64) -> Self {
        let bytes_s = counted.bytes.unwrap_or(0.0) / bandwidth;
        let flops_s = counted.flops.unwrap_or(0.0) / flops;
        Self {
            roof: Roof {
                seconds: bytes_s.max(flops_s),
                peak_flops: flops,
            },
            floor_s: (bytes_s / MEMORY_MARGIN).max(flops_s / ARITHMETIC_MARGIN),
        }
    }

    pub(super) fn roof(&self) -> Roof {
        self.roof
    }

    /// Why a time cannot be true.
    pub(super) fn beaten_by(&self, seconds: f64) -> Option<String> {
        (seconds < self.floor_s).then(|| {
            format!(
                "its {:.1} us are less than the {:.1} us that the GPU needs at least",
                1e6 * seconds,
                1e6 * self.floor_s
            )
        })
    }
}

/// Bytes a second, read and written.
fn bandwidth(station: &Station) -> Result<f64, Failure> {
    let (gpu, kernels) = (&station.gpu, &station.kernels);
    let bytes = COPIED.min(station.total_bytes / PART);
    let (from, to) = (gpu.allocate(bytes)?, gpu.allocate(bytes)?);
    let filled = kernels.fill(gpu, from, bytes, 0);
    let seconds = filled.and_then(|()| station.clock(RUNS, |_| kernels.copy(gpu, to, from, bytes)));
    gpu.free(from)?;
    gpu.free(to)?;
    Ok(2.0 * bytes as f64 / fastest(&seconds?))
}

/// Operations a second, multiply-add in float.
fn flops(station: &Station) -> Result<f64, Failure> {
    let mut operations = 0.0;
    let seconds = station.clock(RUNS, |station| {
        let (gpu, kernels) = (&station.gpu, &station.kernels);
        operations = kernels.multiply_add(gpu, station.results, ROUNDS)?;
        Ok(())
    })?;
    Ok(operations / fastest(&seconds))
}

fn fastest(seconds: &[f64]) -> f64 {
    seconds
        .iter()
        .copied()
        .fold(f64::INFINITY, f64::min)
        .max(1e-9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_roof_is_the_slower_of_memory_and_arithmetic() {
        let counted = Counted {
            flops: Some(2e9),
            bytes: Some(4e9),
        };
        let limit = Limit::new(&counted, 4e12, 50e12);
        assert!((limit.roof().seconds - 1e-3).abs() < 1e-12);
        assert_eq!(limit.beaten_by(0.7e-3), None);
        assert!(limit.beaten_by(0.6e-3).unwrap().contains("666.7 us"));
        let computes = Limit::new(
            &Counted {
                bytes: None,
                ..counted
            },
            4e12,
            50e12,
        );
        assert!((computes.roof().seconds - 40e-6).abs() < 1e-12);
        assert_eq!(computes.beaten_by(3e-6), None);
        assert!(computes.beaten_by(2e-6).is_some());
    }
}
