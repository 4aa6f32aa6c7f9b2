//! Elementwise arithmetic that the compiler turns into vector instructions.
//!
//! `vectorised` compiles a closure for AVX-512, AVX2 and SSE2, and chooses the best version at run
//! time.

#![expect(
    clippy::inline_always,
    reason = "only what is inlined into `vectorised` is compiled for its instructions"
)]

use pulp::Arch;

/// Runs a closure compiled for this CPU's vector instructions. The closure must be
/// `#[inline(always)]` and contain plain loops, because a function that is not inlined is compiled
/// for SSE2 only.
pub(crate) fn vectorised<R>(work: impl FnOnce() -> R) -> R {
    struct Work<F>(F);
    impl<R, F: FnOnce() -> R> pulp::NullaryFnOnce for Work<F> {
        type Output = R;
        #[inline(always)]
        fn call(self) -> R {
            (self.0)()
        }
    }
    Arch::new().dispatch(Work(work))
}

/// Lanes of a running sum: wide enough for one AVX-512 register.
const LANES: usize = 16;

/// e to the x with a relative error below 2e-7, by a polynomial on the reduced argument without
/// branches. Arguments below -87 give 1e-38 instead of a denormal.
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    // Adding and subtracting 1.5 * 2^23 rounds to the nearest integer without a libm call.
    const ROUND: f32 = 12_582_912.0;
    let x = x.clamp(-87.0, 88.0);
    let z = (x * std::f32::consts::LOG2_E + ROUND) - ROUND;
    // ln 2 in two parts, the first exact in f32.
    let r = (x - z * 0.693_359_4) + z * 2.121_944_4e-4;
    let p = 1.987_569_1e-4;
    let p = p * r + 1.398_199_9e-3;
    let p = p * r + 8.333_452e-3;
    let p = p * r + 4.166_579_6e-2;
    let p = p * r + 1.666_666_6e-1;
    let p = p * r + 0.5;
    (p * r * r + r + 1.0) * f32::from_bits(((z as i32 + 127) << 23) as u32)
}

/// 1 / (1 + e^-x).
#[inline(always)]
pub(crate) fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

/// Sum of products.
#[inline(always)]
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0; LANES];
    let (a_chunks, b_chunks) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f32 = a_chunks
        .remainder()
        .iter()
        .zip(b_chunks.remainder())
        .map(|(a, b)| a * b)
        .sum();
    for (a, b) in a_chunks.zip(b_chunks) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f32>() + rest
}

#[inline(always)]
pub(crate) fn sum(values: &[f32]) -> f32 {
    let mut sums = [0.0; LANES];
    let chunks = values.chunks_exact(LANES);
    let rest: f32 = chunks.remainder().iter().sum();
    for chunk in chunks {
        for lane in 0..LANES {
            sums[lane] += chunk[lane];
        }
    }
    sums.iter().sum::<f32>() + rest
}

/// The largest value.
#[inline(always)]
pub(crate) fn max(values: &[f32]) -> f32 {
    let mut best = [f32::NEG_INFINITY; LANES];
    let chunks = values.chunks_exact(LANES);
    let rest = chunks
        .remainder()
        .iter()
        .copied()
        .fold(f32::NEG_INFINITY, f32::max);
    for chunk in chunks {
        for lane in 0..LANES {
            best[lane] = if chunk[lane] > best[lane] {
                chunk[lane]
            } else {
                best[lane]
            };
        }
    }
    best.iter().copied().fold(rest, f32::max)
}

/// The sums of a row of exponentials.
pub(crate) struct Exponentials {
    /// Sum of e^s.
    pub(crate) sum: f32,
    /// Sum of s e^s, from which the entropy follows.
    pub(crate) weighted: f32,
}

/// Replaces every value z by e^s with s = (z - shift) * factor.
#[inline(always)]
pub(crate) fn exponentiate(values: &mut [f32], shift: f32, factor: f32) -> Exponentials {
    let (mut sums, mut weighted) = ([0.0; LANES], [0.0; LANES]);
    let mut chunks = values.chunks_exact_mut(LANES);
    for chunk in &mut chunks {
        for lane in 0..LANES {
            let s = (chunk[lane] - shift) * factor;
            let e = exp(s);
            chunk[lane] = e;
            sums[lane] += e;
            weighted[lane] += e * s;
        }
    }
    let (mut sum, mut total) = (sums.iter().sum::<f32>(), weighted.iter().sum::<f32>());
    for value in chunks.into_remainder() {
        let s = (*value - shift) * factor;
        *value = exp(s);
        sum += *value;
        total += *value * s;
    }
    Exponentials {
        sum,
        weighted: total,
    }
}

/// Adds b to a.
#[inline(always)]
pub(crate) fn add(a: &mut [f32], b: &[f32]) {
    for (a, b) in a.iter_mut().zip(b) {
        *a += b;
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::float_cmp, reason = "the sums are exact in f32")]

    use super::*;

    #[test]
    fn exp_is_accurate_over_its_range() {
        let worst = (-8600..8700).map(|i| i as f32 / 100.0).map(|x| {
            let wanted = f64::from(x).exp();
            ((f64::from(exp(x)) - wanted) / wanted).abs()
        });
        let worst = worst.fold(0.0, f64::max);
        assert!(worst < 2e-7, "relative error {worst}");
        assert!(exp(-1000.0) < 1e-37);
        assert!(exp(f32::NAN).is_nan());
    }

    #[test]
    fn sums_include_the_rest_after_the_last_full_lane() {
        let a: Vec<f32> = (0..37).map(|i| i as f32).collect();
        assert_eq!(
            vectorised(|| dot(&a, &a)),
            a.iter().map(|v| v * v).sum::<f32>()
        );
        assert_eq!(max(&a), 36.0);
        let mut row = vec![1.0; 19];
        let out = exponentiate(&mut row, 1.0, 3.0);
        assert_eq!((out.sum, out.weighted), (19.0, 0.0));
    }
}
