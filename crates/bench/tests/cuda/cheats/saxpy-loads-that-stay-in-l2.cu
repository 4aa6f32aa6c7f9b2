// Loads with the hint that lines be evicted last: they may survive the sweep between runs.
// It must fail: this stage forbids inline PTX.
// expect: refused
// stage: coalescing
#include <cuda_runtime.h>

__device__ float stay(const float *p) {
    float v;
    unsigned long long policy;
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    asm volatile("ld.global.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(v) : "l"(p), "l"(policy));
    return v;
}

__global__ void saxpy(float a, const float *x, const float *y, float *z, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) z[i] = a * stay(x + i) + stay(y + i);
}

extern "C" void solve(float a, const float *x, const float *y, float *z, int n) {
    saxpy<<<(n + 255) / 256, 256>>>(a, x, y, z, n);
}
