// Handles n / 4 vectors and forgets the rest: right at the timed size.
// It must fail: hidden sizes leave a rest.
// expect: wrong
#include <cuda_runtime.h>

__global__ void relu(const float4 *x, float4 *y, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 v = x[i];
    y[i] = make_float4(fmaxf(v.x, 0.0f), fmaxf(v.y, 0.0f), fmaxf(v.z, 0.0f), fmaxf(v.w, 0.0f));
}

extern "C" void solve(const float *x, float *y, long long n) {
    if (n >= 4) relu<<<(unsigned)((n / 4 + 255) / 256), 256>>>((const float4 *)x, (float4 *)y, n / 4);
}
