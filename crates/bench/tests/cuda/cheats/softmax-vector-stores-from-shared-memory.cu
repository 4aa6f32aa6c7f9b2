// Reads two floats of shared memory as one integer, and stores it.
// (What it stores is no softmax.)
// It must fail: this stage forbids loads and stores that are wider than an element, whatever is done between.
// expect: refused
// stage: shared-memory
#include <cuda_runtime.h>
typedef unsigned long long u64;
__global__ void k(const float* x, u64* y, long long pairs) {
    __shared__ float t[512];
    long long b = blockIdx.x * 512ll;
    for (int j = threadIdx.x; j < 512; j += 256) t[j] = b + j < 2 * pairs ? fmaxf(x[b + j], 0.0f) : 0.0f;
    __syncthreads();
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < pairs) y[i] = ((u64*)t)[threadIdx.x];
}
extern "C" void solve(const float* x, float* y, int rows, int cols) { long long n = (long long)rows * cols; k<<<(n / 2 + 256) / 256, 256>>>(x, (u64*)y, n / 2); }
