//! What every compilation of a text has in common, whichever compiler does it.

use hotloop_flow::Verdict;
use hotloop_flow::verdict::Phase;

use crate::compiling::confined::Allowance;

/// The name of a text in messages and in line information.
pub(super) const SOURCE: &str = "candidate.cu";
/// Whatever NVRTC loads late, this makes it load.
pub(super) const WARM_UP: &str =
    "template <int N> __global__ void warm(float *x) { x[0] = expf(x[N]); }";

/// The verdict on a text that takes longer than it may.
pub(super) fn timed_out(allowance: Allowance) -> Verdict {
    Verdict::TimedOut {
        limit_s: allowance.wall_s,
        during: Phase::Compile,
    }
}
