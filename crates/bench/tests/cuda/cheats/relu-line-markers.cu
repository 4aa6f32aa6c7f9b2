// Pretends by line markers to be a system header, where warnings and checks are silent.
// It must fail: nothing else is changed by it: the kernel is missing.
// expect: refused, not-compiled, malformed
#include <cuda_runtime.h>

# 1 "/usr/include/stdio.h" 1 3
__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    missing<<<1, 256>>>(x, y, n);
}
