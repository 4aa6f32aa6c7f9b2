// Loads two floats as one integer into shared memory, and reads them there one by one.
// (What it stores is no softmax.)
// It must fail: this stage forbids loads and stores that are wider than an element, whatever is done between.
// expect: refused
// stage: shared-memory
#include <cuda_runtime.h>
typedef unsigned long long u64;
__global__ void k(const u64* x, float* y, long long pairs, u64 zero) {
    __shared__ float t[512];
    long long b = blockIdx.x * 512ll;
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < pairs) ((u64*)t)[threadIdx.x] = x[i] + zero;
    __syncthreads();
    for (int j = threadIdx.x; j < 512; j += 256) if (b + j < 2 * pairs) y[b + j] = fmaxf(t[j], 0.0f);
}
extern "C" void solve(const float* x, float* y, int rows, int cols) { long long n = (long long)rows * cols; k<<<(n / 2 + 256) / 256, 256>>>((const u64*)x, y, n / 2, 0); }
