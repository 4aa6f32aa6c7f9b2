// Makes solve a device function.
// It must fail: nothing launches it.
// expect: malformed, refused, not-compiled
#include <cuda_runtime.h>

extern "C" __device__ void solve(const float *x, float *y, long long n) {
    for (long long i = 0; i < n; i++) y[i] = fmaxf(x[i], 0.0f);
}
