//! What every compilation of a text has in common, whichever compiler does it.

/// The name of a text in messages and in line information.
pub(super) const SOURCE: &str = "candidate.cu";
/// Makes NVRTC load everything that it would otherwise load late.
pub(super) const WARM_UP: &str =
    "template <int N> __global__ void warm(float *x) { x[0] = expf(x[N]); }";
