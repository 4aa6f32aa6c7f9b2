// Loads two floats as one integer, which functions take apart that are called by their addresses.
// It must fail: this stage forbids loads and stores that are wider than an element, whatever is done between.
// expect: refused
// stage: coalescing
#include <cuda_runtime.h>
typedef unsigned long long u64;
typedef unsigned (*F)(u64);
__device__ __noinline__ unsigned lo(u64 v) { return (unsigned)v; }
__device__ __noinline__ unsigned hi(u64 v) { return (unsigned)(v >> 32); }
__constant__ F fs[2] = {lo, hi};
__global__ void k(const u64* x, float* y, long long pairs, u64 zero) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < pairs) {
        u64 v = x[i] + zero;
        #pragma unroll 1
        for (int j = 0; j < 2; j++) y[2*i+j] = fmaxf(__uint_as_float(fs[j](v)), 0.0f);
    }
}
extern "C" void solve(const float* x, float* y, long long n) { k<<<(n / 2 + 256) / 256, 256>>>((const u64*)x, y, n / 2, 0); }
