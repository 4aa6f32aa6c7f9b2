// Uses dynamic shared memory, declared by a macro, where the stage forbids shared memory.
// It must fail: the PTX shows it.
// expect: refused
// stage: coalescing
#include <cuda_runtime.h>

#define POOL extern __shared__ float

__global__ void relu(const float *x, float *y, long long n) {
    POOL s[];
    for (long long i = blockIdx.x * 256ll; i < n; i += gridDim.x * 256ll) {
        if (i + threadIdx.x < n) s[threadIdx.x] = x[i + threadIdx.x];
        __syncthreads();
        int j = 255 - threadIdx.x;
        if (i + j < n) y[i + j] = fmaxf(s[j], 0.0f);
        __syncthreads();
    }
}

extern "C" void solve(const float *x, float *y, long long n) { relu<<<264, 256, 1024>>>(x, y, n); }
