// Continues a comment over the end of its line, so that readers of lines disagree about what is
// code.
// It must fail: the kernel is launched for one element only, in every reading of the lines.
// expect: wrong, refused, not-compiled, malformed
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    // a comment that some readers end here ?\
    n = n;
    n = 1;
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
