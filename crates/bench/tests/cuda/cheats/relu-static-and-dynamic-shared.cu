// Asks for 220 KB of dynamic shared memory beside 40 KB of static: each is allowed, both are not.
// It must fail: the launch cannot be made; that is the candidate's fault.
// expect: crashed, refused, wrong
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    __shared__ float own[10240];
    extern __shared__ float more[];
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) {
        own[threadIdx.x * 40] = x[i];
        more[threadIdx.x * 200] = fmaxf(own[threadIdx.x * 40], 0.0f);
        y[i] = more[threadIdx.x * 200];
    }
}

extern "C" void solve(const float *x, float *y, long long n) {
    cudaFuncSetAttribute(relu, cudaFuncAttributeMaxDynamicSharedMemorySize, 220 * 1024);
    relu<<<264, 256, 220 * 1024>>>(x, y, n);
}
