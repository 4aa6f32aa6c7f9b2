// Declares 96 KB of static shared memory; the limit is 48.
// It must fail: it does not assemble.
// expect: not-compiled, refused
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    __shared__ float s[24 * 1024];
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) {
        s[(i * 97) % (24 * 1024)] = fmaxf(x[i], 0.0f);
        y[i] = s[(i * 97) % (24 * 1024)];
    }
}

extern "C" void solve(const float *x, float *y, long long n) { relu<<<264, 256>>>(x, y, n); }
