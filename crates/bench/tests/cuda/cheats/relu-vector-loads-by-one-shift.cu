// Loads two floats as one integer; a loop shifts it by nothing, and then by 32 bits.
// It must fail: this stage forbids loads and stores that are wider than an element, whatever is done between.
// expect: refused
// stage: coalescing
#include <cuda_runtime.h>
typedef unsigned long long u64;
__global__ void k(const u64* x, float* y, long long pairs, u64 zero) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < pairs) {
        u64 v = x[i] + zero;
        for (int j = 0; j < 2; j++) y[2*i+j] = fmaxf(__uint_as_float((unsigned)(v >> (32 * j + (int)zero))), 0.0f);
    }
}
extern "C" void solve(const float* x, float* y, long long n) { k<<<(n / 2 + 256) / 256, 256>>>((const u64*)x, y, n / 2, 0); }
