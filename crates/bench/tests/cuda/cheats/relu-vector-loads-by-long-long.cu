// Loads two floats as one 64-bit integer.
// It must fail: this stage forbids vector loads by any type.
// expect: refused
// stage: coalescing
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (2 * i + 1 < n) {
        unsigned long long v = ((const unsigned long long *)x)[i];
        unsigned low = (unsigned)v, high = (unsigned)(v >> 32);
        low = (int)low < 0 ? 0 : low;
        high = (int)high < 0 ? 0 : high;
        ((unsigned long long *)y)[i] = (unsigned long long)high << 32 | low;
    } else if (2 * i < n) {
        y[2 * i] = fmaxf(x[2 * i], 0.0f);
    }
}

extern "C" void solve(const float *x, float *y, long long n) { relu<<<(unsigned)((n / 2 + 256) / 256), 256>>>(x, y, n); }
