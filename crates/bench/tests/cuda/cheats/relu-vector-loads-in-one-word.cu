// Handles two floats in one integer by masks, and never takes it apart.
// It must fail: this stage forbids loads and stores that are wider than an element, whatever is done between.
// expect: refused
// stage: coalescing
#include <cuda_runtime.h>
typedef unsigned long long u64;
__global__ void k(const u64* x, u64* y, long long pairs, u64 zero) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < pairs) {
        u64 v = x[i] + zero;
        u64 s = (v & 0x8000000080000000ull) >> 31;
        y[i] = v & ~(s * 0xffffffffull) ;
    }
}
extern "C" void solve(const float* x, float* y, long long n) { k<<<(n / 2 + 256) / 256, 256>>>((const u64*)x, (u64*)y, n / 2, 0); }
