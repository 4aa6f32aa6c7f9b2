// Loads four floats from an address that is no multiple of 16.
// It must fail: a misaligned access is a crash.
// expect: crashed
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = (blockIdx.x * (long long)blockDim.x + threadIdx.x) * 4 + 1;
    if (i + 4 > n) return;
    float4 v = *(const float4 *)(x + i);
    *(float4 *)(y + i) = make_float4(fmaxf(v.x, 0.0f), fmaxf(v.y, 0.0f), fmaxf(v.z, 0.0f), fmaxf(v.w, 0.0f));
}

extern "C" void solve(const float *x, float *y, long long n) {
    relu<<<(unsigned)((n / 4 + 256) / 256), 256>>>(x, y, n);
}
