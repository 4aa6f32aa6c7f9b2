// Loads two floats as one integer, and reverses its bits to get the upper one.
// It must fail: this stage forbids loads and stores that are wider than an element, whatever is done between.
// expect: refused
// stage: coalescing
#include <cuda_runtime.h>
typedef unsigned long long u64;
__global__ void k(const u64* x, float* y, long long pairs, u64 zero) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < pairs) {
        u64 v = x[i] + zero; unsigned lo = (unsigned)v;
        unsigned hi = __brev((unsigned)__brevll(v));
        y[2*i] = fmaxf(__uint_as_float(lo), 0.0f); y[2*i+1] = fmaxf(__uint_as_float(hi), 0.0f);
    }
}
extern "C" void solve(const float* x, float* y, long long n) { k<<<(n / 2 + 256) / 256, 256>>>((const u64*)x, y, n / 2, 0); }
