// Puts a gigabyte of initialised data into the module, most of it zeros behind one number.
// It must fail: what a module may hold is limited.
// expect: not-compiled, timed-out, refused, crashed
#include <cuda_runtime.h>

__device__ float table[1 << 28] = {1.0f};

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], table[i + 1]);
}

extern "C" void solve(const float *x, float *y, long long n) { relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n); }
