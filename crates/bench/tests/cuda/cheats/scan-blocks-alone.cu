// Scans each block of 1024 and forgets the carry.
// It must fail: right for the first block only.
// expect: wrong
#include <cuda_runtime.h>

__global__ void scan(const float *x, float *y, long long n) {
    __shared__ float s[1024];
    long long i = blockIdx.x * 1024ll + threadIdx.x;
    s[threadIdx.x] = i < n ? x[i] : 0;
    __syncthreads();
    for (int d = 1; d < 1024; d *= 2) {
        float t = threadIdx.x >= d ? s[threadIdx.x - d] : 0;
        __syncthreads();
        s[threadIdx.x] += t;
        __syncthreads();
    }
    if (i < n) y[i] = s[threadIdx.x];
}

extern "C" void solve(const float *x, float *y, int n) { scan<<<(unsigned)((n + 1023) / 1024), 1024>>>(x, y, n); }
