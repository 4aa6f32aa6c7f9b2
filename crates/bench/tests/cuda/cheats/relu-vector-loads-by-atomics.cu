// Loads and stores two floats by atomic operations on one integer.
// It must fail: this stage forbids loads and stores that are wider than an element, whatever is done between.
// expect: refused
// stage: coalescing
#include <cuda_runtime.h>
typedef unsigned long long u64;
__global__ void k(u64* x, u64* y, long long pairs) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < pairs) {
        u64 v = atomicAdd(x + i, 0ull);
        u64 a = __float_as_uint(fmaxf(__uint_as_float((unsigned)v), 0.0f)), b = __float_as_uint(fmaxf(__uint_as_float((unsigned)(v >> 32)), 0.0f));
        atomicExch(y + i, b << 32 | a);
    }
}
extern "C" void solve(const float* x, float* y, long long n) { cudaMemcpyAsync(y, x, n * 4, cudaMemcpyDeviceToDevice); k<<<(n / 2 + 256) / 256, 256>>>((u64*)y, (u64*)y, n / 2); }
