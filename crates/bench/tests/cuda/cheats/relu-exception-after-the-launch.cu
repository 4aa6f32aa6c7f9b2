// Launches half of the work and throws.
// It must fail: an exception that leaves solve is the end of the program.
// expect: not-compiled, refused, crashed, wrong
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    relu<<<(unsigned)((n / 2 + 255) / 256), 256>>>(x, y, n / 2);
    throw 1;
}
