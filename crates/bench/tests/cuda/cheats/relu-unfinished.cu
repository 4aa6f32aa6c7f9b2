// Ends in the middle of the kernel, as an answer that ran out of tokens does.
// It must fail: a brace is missing.
// expect: malformed, refused, not-compiled
#include <cuda_runtime.h>

extern "C" void solve(const float *x, float *y, long long n);

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) {
        y[i] = fmaxf(x[i],
