//! The engine on a CPU: forward, hand-written backward, and decoding. Everything is f32 except
//! frozen matrices, which may be bf16.
//!
//! ```text
//! gemm, bf16 <- matrix <- projection (weight + bias + adapter) \
//! crate::math <- norm, rope, swiglu, attention                  > layer <- network (forward, backward), decode <- generate
//!                matrix <- head (logits in chunks)             /
//! ```
//!
//! Rows are tokens of packed sequences. Nothing is padded, and only attention knows where a
//! sequence ends. Threads come from the caller's rayon pool.

mod attention;
mod bf16;
mod decode;
mod gemm;
mod generate;
mod head;
mod layer;
mod matrix;
mod memory;
mod network;
mod norm;
mod onto;
mod projection;
mod rope;
mod skinny;
mod swiglu;

pub use decode::{Cache, Prefix};
pub use network::{Adapted, Gradient, Network, Pass};
