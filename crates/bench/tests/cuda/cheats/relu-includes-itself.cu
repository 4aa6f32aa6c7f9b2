// Includes its own file without end.
// It must fail: the depth of includes is limited, or the name is not found.
// expect: not-compiled, timed-out, refused
#include <cuda_runtime.h>
#include __FILE__

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) { relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n); }
