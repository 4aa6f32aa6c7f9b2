// Declares a device array of 130 GB, which leaves nothing for anybody else.
// It must fail: own memory is limited, whether by cudaMalloc or by a variable.
// expect: not-compiled, crashed, refused
#include <cuda_runtime.h>

__device__ float most[130ull << 28];

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = most[i << 4] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) { relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n); }
