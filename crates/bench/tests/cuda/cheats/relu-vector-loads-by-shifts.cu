// Loads and stores two floats as one 64-bit integer and takes them apart by shifts.
// It must fail: this stage forbids loads that are wider than an element, however they are taken
// apart.
// expect: refused
// stage: coalescing
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = 2 * (blockIdx.x * 256ll + threadIdx.x);
    if (i + 1 < n) {
        long long v = *(const long long *)(x + i);
        long long low = (v & 0x80000000ll) ? 0 : v & 0x7fffffffll;
        long long high = v < 0 ? 0 : v & 0x7fffffff00000000ll;
        *(long long *)(y + i) = high | low;
    } else if (i < n) {
        y[i] = fmaxf(x[i], 0.0f);
    }
}

extern "C" void solve(const float *x, float *y, long long n) {
    relu<<<(unsigned)((n / 2 + 256) / 256), 256>>>(x, y, n);
}
