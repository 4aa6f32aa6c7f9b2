//! CUDA C++: extracts code from answers, finds its techniques, and splits it into two halves.

pub mod answer;
mod assembly;
mod extract;
mod prototype;
mod ptx;
mod scan;
mod split;
pub mod stages;

pub use assembly::{Assembly, assembly};
pub use extract::{extract, normalise, read};
pub use prototype::{check, check_bound, prototype};
pub use ptx::{PtxScan, WideAccess, scan_ptx, words as ptx_words};
pub use scan::scan;
pub use split::{Halves, Refusal, is_library, is_torch, split};
