// Loads single floats but stores four at once.
// It must fail: this stage forbids vector accesses of both kinds.
// expect: refused
// stage: coalescing
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = 4 * (blockIdx.x * 256ll + threadIdx.x);
    if (i + 3 < n) {
        float v[4];
        for (int k = 0; k < 4; k++) v[k] = fmaxf(*(const volatile float *)(x + i + k), 0.0f);
        *(float4 *)(y + i) = make_float4(v[0], v[1], v[2], v[3]);
    } else {
        for (; i < n; i++) y[i] = fmaxf(x[i], 0.0f);
    }
}

extern "C" void solve(const float *x, float *y, long long n) { relu<<<(unsigned)((n / 4 + 256) / 256), 256>>>(x, y, n); }
