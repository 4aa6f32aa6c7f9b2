// Uploads from a host address that is not mapped.
// It must fail: reading it is a fault of the candidate.
// expect: refused, crashed
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    cudaMemcpy(y, (const void *)64, 4096, cudaMemcpyHostToDevice);
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
