// Asks for 300 KB of dynamic shared memory, more than any block may have.
// It must fail: the launch never happens.
// expect: refused, wrong, crashed
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    extern __shared__ float s[];
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) {
        s[threadIdx.x] = fmaxf(x[i], 0.0f);
        y[i] = s[threadIdx.x];
    }
}

extern "C" void solve(const float *x, float *y, long long n) {
    cudaFuncSetAttribute(relu, cudaFuncAttributeMaxDynamicSharedMemorySize, 300 * 1024);
    relu<<<264, 256, 300 * 1024>>>(x, y, n);
}
