//! Some microseconds of arithmetic on data in the L1 cache, which keeps a core awake and shows its
//! speed.
#![expect(
    unsafe_code,
    reason = "vector instructions behind a run-time check of the CPU"
)]

use crate::sys;

const ROUNDS: usize = 4_000;

/// Computes for about `seconds`.
pub(crate) fn wake_for(seconds: f64) {
    let begin = sys::now();
    while sys::now() - begin < seconds {
        arithmetic_probe();
    }
}

/// The seconds that the arithmetic takes now.
pub(crate) fn arithmetic_probe() -> f64 {
    let data = [1.000_000_1f64; 64];
    let begin = sys::now();
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
        // SAFETY: the CPU has the instructions that the function needs.
        std::hint::black_box(unsafe { fused(&data) });
    } else {
        std::hint::black_box(plain(&data));
    }
    sys::now() - begin
}

/// Eight independent chains of fused multiply-adds with loads, which use the same ports as kernels.
#[target_feature(enable = "avx2,fma")]
unsafe fn fused(data: &[f64; 64]) -> f64 {
    use std::arch::x86_64::{_mm256_cvtsd_f64, _mm256_fmadd_pd, _mm256_loadu_pd, _mm256_set1_pd};
    let mut chains = [_mm256_set1_pd(1.0); 8];
    let factor = _mm256_set1_pd(0.999_999);
    for round in 0..ROUNDS {
        let start = (round * 8) % 32;
        for (index, chain) in chains.iter_mut().enumerate() {
            // SAFETY: start + index * 4 + 4 <= 24 + 28 + 4 = 56 <= 64.
            let loaded = unsafe { _mm256_loadu_pd(data.as_ptr().add(start + index * 4)) };
            *chain = _mm256_fmadd_pd(*chain, factor, loaded);
        }
    }
    chains.iter().map(|chain| _mm256_cvtsd_f64(*chain)).sum()
}

fn plain(data: &[f64; 64]) -> f64 {
    let mut chains = [1.0f64; 8];
    for round in 0..ROUNDS {
        for (index, chain) in chains.iter_mut().enumerate() {
            *chain = *chain * 0.999_999 + data[(round + index) % 64];
        }
    }
    chains.iter().sum()
}
