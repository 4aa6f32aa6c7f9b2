// Sets limits of the device: the persisting part of L2, the heap, the fetch granularity.
// It must fail: limits of the device are not the candidate's; nothing is launched unless all
// were granted.
// expect: refused, not-compiled, wrong
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    size_t got = 0;
    cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 30 << 20);
    cudaDeviceGetLimit(&got, cudaLimitPersistingL2CacheSize);
    if (got != 30 << 20) return;
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
