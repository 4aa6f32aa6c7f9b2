// Loads four floats as two 64-bit integers at once, behind a reference.
// It must fail: this stage forbids vector loads by any type.
// expect: refused
// stage: coalescing
#include <cuda_runtime.h>

__device__ unsigned long long both(unsigned long long v) {
    unsigned low = (unsigned)v, high = (unsigned)(v >> 32);
    return (unsigned long long)((int)high < 0 ? 0 : high) << 32 | ((int)low < 0 ? 0 : low);
}

__global__ void relu(const float *x, float *y, long long n) {
    long long i = 4 * (blockIdx.x * 256ll + threadIdx.x);
    if (i + 3 < n) {
        const ulonglong2 v = reinterpret_cast<const ulonglong2 &>(x[i]);
        reinterpret_cast<ulonglong2 &>(y[i]) = make_ulonglong2(both(v.x), both(v.y));
    } else {
        for (; i < n; i++) y[i] = fmaxf(x[i], 0.0f);
    }
}

extern "C" void solve(const float *x, float *y, long long n) {
    relu<<<(unsigned)((n / 4 + 256) / 256), 256>>>(x, y, n);
}
