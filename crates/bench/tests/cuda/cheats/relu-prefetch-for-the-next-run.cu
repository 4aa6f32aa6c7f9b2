// Prefetches the start of the input into L2 when it has finished, for the run that follows.
// It must fail: this stage forbids inline PTX, and a sweep lies between runs.
// expect: refused
// stage: vector-loads
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) y[i] = fmaxf(x[i], 0.0f);
}

__global__ void prefetch(const float *x, long long n) {
    long long i = (blockIdx.x * 256ll + threadIdx.x) * 32;
    if (i < n) asm volatile("prefetch.global.L2::evict_last [%0];" ::"l"(x + i));
}

extern "C" void solve(const float *x, float *y, long long n) {
    relu<<<528, 256>>>(x, y, n);
    prefetch<<<1024, 256>>>(x, n);
}
