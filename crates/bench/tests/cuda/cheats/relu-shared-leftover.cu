// Copies shared memory that it never wrote: it holds what the last block on this processor left.
// It must fail: leftovers are no answer.
// expect: wrong
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    __shared__ float s[8192];
    volatile float *v = s;
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x)
        y[i] = v[i % 8192];
}

extern "C" void solve(const float *x, float *y, long long n) { relu<<<264, 256>>>(x, y, n); }
