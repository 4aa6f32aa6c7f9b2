// Loads two floats as one integer into an array of its own, and reads them there one by one.
// It must fail: this stage forbids loads and stores that are wider than an element, whatever is done between.
// expect: refused
// stage: coalescing
#include <cuda_runtime.h>
typedef unsigned long long u64;
__global__ void k(const u64* x, float* y, long long pairs, u64 zero, int two) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    u64 buf[4];
    if (i < pairs) {
        for (int j = 0; j < two; j++) buf[j & 3] = x[i] + zero;
        volatile float* f = (volatile float*)buf;
        y[2*i] = fmaxf(f[(two-1)*2], 0.0f); y[2*i+1] = fmaxf(f[(two-1)*2+1], 0.0f);
    }
}
extern "C" void solve(const float* x, float* y, long long n) { k<<<(n / 2 + 256) / 256, 256>>>((const u64*)x, y, n / 2, 0, 1); }
