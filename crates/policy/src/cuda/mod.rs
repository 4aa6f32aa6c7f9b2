//! The engine on one NVIDIA GPU: bf16 weights and activations, f32 sums, masters and moments.
//!
//! ```text
//! device (context, stream, memory, launches) <- kernels/*.cu by NVRTC, blas (cuBLAS, and thin for short sums)
//! plan (offsets) <- arena (weights, masters, gradients, moments) <- model, linear (products with adapters)
//! batch (a pack's integers), workspace (activations), attention, cache
//!   <- layer, backward, head <- resident (what stays on the device) <- engine (score, learn, step)
//! way (how a step is decoded), chain (launches of a step's own kernels), decode_product (shapes of its own products)
//!   <- decoder (slots) <- step <- joined, fused <- steps (a step as a graph) <- generate (prompts, endings)
//! trace (where the time of any of it goes) <- profile
//! ```
//!
//! Libraries are loaded when the device is opened, so one binary works with and without a GPU. No
//! sum uses atomics, so the same inputs give the same numbers.

mod arena;
mod attention;
mod backward;
mod batch;
mod blas;
mod cache;
mod chain;
mod decode_product;
mod decoder;
mod decoding;
mod device;
mod engine;
mod error;
mod fused;
mod generate;
mod head;
mod joined;
mod kernels;
mod launch;
mod layer;
mod libraries;
mod linear;
mod model;
mod plan;
mod product;
mod profile;
mod resident;
mod step;
mod steps;
mod thin;
mod trace;
mod way;
mod workspace;

#[doc(hidden)]
pub use device::DeviceFacts;
#[doc(hidden)]
pub use engine::{Engine, Learn, Stepping};
pub use error::Error;
#[doc(hidden)]
pub use resident::{Trains, With};
#[doc(hidden)]
pub use trace::Spent;
#[doc(hidden)]
pub use way::DecodeWay;

/// Which of the three libraries exist: the driver, the compiler, cuBLAS.
pub fn libraries() -> [(&'static str, bool); 3] {
    [
        ("libcuda", libraries::driver_present()),
        ("libnvrtc", libraries::nvrtc_present()),
        ("libcublas", libraries::blas_present()),
    ]
}

/// Whether a GPU can be used: the libraries exist, and the driver has a GPU that the kernels
/// support.
pub fn available() -> bool {
    let first = || cudarc::driver::CudaContext::new(0)?.compute_capability();
    libraries().iter().all(|(_, present)| *present) && first().is_ok_and(can_compute)
}

/// The missing library that prevents using this machine's GPU; `None` if there is no GPU, or no
/// library is missing.
pub fn hindrance() -> Option<Error> {
    let has_gpu = || cudarc::driver::CudaContext::device_count().is_ok_and(|count| count > 0);
    libraries::missing().filter(|_| libraries::driver_present() && has_gpu())
}

/// Whether a GPU of that compute capability has everything that the kernels need. bf16 sums and
/// copies require 8.0.
fn can_compute(capability: (i32, i32)) -> bool {
    capability >= (8, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gpus_before_ampere_cannot_be_used() {
        assert!(!can_compute((6, 1)) && !can_compute((7, 5)));
        assert!(
            can_compute((8, 0))
                && can_compute((8, 9))
                && can_compute((9, 0))
                && can_compute((12, 0))
        );
    }
}
