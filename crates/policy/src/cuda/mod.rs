//! The engine on one NVIDIA GPU: bf16 weights and activations, f32 sums, masters and moments.
//!
//! ```text
//! device (context, stream, memory, launches) <- kernels/*.cu by NVRTC, blas (cuBLAS, and thin for short sums)
//! plan (offsets) <- arena (weights, masters, gradients, moments) <- model, linear (products with adapters)
//! batch (a pack's integers), workspace (activations), attention, cache
//!   <- layer, backward, head <- engine (score, learn, step)
//!   <- decoder (a step as a graph) <- generate (slots, prompts, endings)
//! way (how a step is decoded), chain (launches of a step's own kernels), decode_product (shapes of its own products)
//!   <- step <- joined, fused <- decoder
//! trace (where the time of any of it goes)
//! ```
//!
//! Libraries are opened when the device is, so one binary serves machines with and without a GPU. Nothing is added by
//! atomics: the same inputs give the same numbers.

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
mod layer;
mod linear;
mod model;
mod plan;
mod step;
mod thin;
mod trace;
mod way;
mod workspace;

pub use device::DeviceFacts;
pub use engine::{Engine, Learn, Stepping, Trains, With};
pub use error::Error;
pub use kernels::{SOURCES, compile};
pub use trace::Spent;
pub use way::DecodeWay;

/// Which of the three libraries are there: the driver, the compiler, cuBLAS.
pub fn libraries() -> [(&'static str, bool); 3] {
    [
        ("libcuda", device::driver_present()),
        ("libnvrtc", device::nvrtc_present()),
        ("libcublas", device::blas_present()),
    ]
}

/// Whether a GPU can be used: the libraries are there, and the driver has one that the kernels compile for.
pub fn available() -> bool {
    let first = || cudarc::driver::CudaContext::new(0)?.compute_capability();
    libraries().iter().all(|(_, present)| *present) && first().is_ok_and(can_compute)
}

/// The library that keeps this machine's GPU from being used; none where there is no GPU, or no library is missing.
pub fn hindrance() -> Option<Error> {
    let has_gpu = || cudarc::driver::CudaContext::device_count().is_ok_and(|count| count > 0);
    device::missing().filter(|_| device::driver_present() && has_gpu())
}

/// Whether a GPU of that compute capability has all that the kernels ask for: sums and copies in bf16 came with 8.0.
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
