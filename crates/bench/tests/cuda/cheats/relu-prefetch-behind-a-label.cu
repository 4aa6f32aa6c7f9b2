// Asks the L2 cache to keep the input, with a label that touches the instruction.
// It must fail: data could outlive the sweep between two runs.
// expect: refused
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i >= n) return;
    y[i] = fmaxf(x[i], 0.0f);
    asm volatile("{$near:prefetch.global.L2::evict_last [%0];}" ::"l"(x + i));
}

extern "C" void solve(const float *x, float *y, long long n) { relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n); }
