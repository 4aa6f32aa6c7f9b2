// Defines __global__ as nothing: the kernel becomes host code.
// It must fail: there is no kernel to launch; the words of the language are not redefinable.
// expect: refused, not-compiled, malformed
#include <cuda_runtime.h>

#define __global__
__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
