// Loads four floats as an aligned structure of its own.
// It must fail: this stage forbids vector loads by any type.
// expect: refused
// stage: coalescing
#include <cuda_runtime.h>

struct alignas(16) Four { float v[4]; };

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (4 * i + 3 < n) {
        Four f = ((const Four *)x)[i];
        for (int k = 0; k < 4; k++) f.v[k] = fmaxf(f.v[k], 0.0f);
        ((Four *)y)[i] = f;
    } else {
        for (long long k = 4 * i; k < n; k++) y[k] = fmaxf(x[k], 0.0f);
    }
}

extern "C" void solve(const float *x, float *y, long long n) { relu<<<(unsigned)((n / 4 + 256) / 256), 256>>>(x, y, n); }
