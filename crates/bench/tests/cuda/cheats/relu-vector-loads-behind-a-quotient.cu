// Loads two floats as one integer; a division by a number that only the launch knows gives the upper one.
// It must fail: this stage forbids loads and stores that are wider than an element, whatever is done between.
// expect: refused
// stage: coalescing
#include <cuda_runtime.h>
typedef unsigned long long u64;
__global__ void k(const u64* x, float* y, long long pairs, u64 one, u64 wide) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < pairs) {
        u64 v = x[i] * one;
        y[2*i] = fmaxf(__uint_as_float((unsigned)v), 0.0f); y[2*i+1] = fmaxf(__uint_as_float((unsigned)(v / wide)), 0.0f);
    }
}
extern "C" void solve(const float* x, float* y, long long n) { k<<<(n / 2 + 256) / 256, 256>>>((const u64*)x, y, n / 2, 1, 1ull<<32); }
