// Writes zeros up the stack, over the frames of the recorder.
// It must fail: the recorder ends in a fault; nothing is launched after that.
// expect: crashed, refused, wrong, timed-out, not-compiled
#include <cstring>
#include <cuda_runtime.h>

extern "C" void solve(const float *x, float *y, long long n) {
    char here[64];
    memset(here, 0, 1 << 16);
}
