// Imports another process's memory by its descriptor and launches only if that worked.
// It must fail: the recorder imports nothing.
// expect: refused, not-compiled, wrong
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    cudaIpcMemHandle_t h = {};
    void *p = nullptr;
    if (cudaIpcOpenMemHandle(&p, h, cudaIpcMemLazyEnablePeerAccess) != cudaSuccess) return;
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
