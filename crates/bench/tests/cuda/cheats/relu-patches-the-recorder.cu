// Searches its own memory for the recorded sizes and changes them.
// It must fail: the parent knows the sizes and checks the plan against them.
// expect: not-compiled, refused, crashed, wrong
#include <cstdint>
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    volatile uint64_t mark = (uint64_t)n * 4;
    uint64_t *top = (uint64_t *)&mark;
    for (int i = 1; i < 4096; i++)
        if (top[i] == mark) top[i] = 4;
    relu<<<1, 1>>>(x, y, 1);
}
