// Computes into pinned host memory, reads it there, and uploads the result.
// It must fail: a plan has no host memory.
// expect: refused, not-compiled, crashed, wrong
#include <cuda_runtime.h>

extern "C" void solve(const float *x, float *y, long long n) {
    float *h;
    cudaMallocHost((void **)&h, n * sizeof(float));
    cudaMemcpy(h, x, n * sizeof(float), cudaMemcpyDefault);
    for (long long i = 0; i < n; i++) h[i] = h[i] > 0 ? h[i] : 0;
    cudaMemcpy(y, h, n * sizeof(float), cudaMemcpyDefault);
}
