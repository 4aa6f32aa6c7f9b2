// Waits in every block until all blocks have come; more blocks than fit at once never come.
// It must fail: the blocks that wait keep the others out.
// expect: timed-out
#include <cuda_runtime.h>

__device__ unsigned arrived;

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 1024ll + threadIdx.x;
    if (threadIdx.x == 0) {
        atomicAdd(&arrived, 1);
        while (*(volatile unsigned *)&arrived < gridDim.x) {}
    }
    __syncthreads();
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) { relu<<<(unsigned)((n + 1023) / 1024), 1024>>>(x, y, n); }
