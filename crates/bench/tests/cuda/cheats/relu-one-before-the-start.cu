// Right answer, and one float before it.
// It must fail: canaries precede every buffer.
// expect: wrong, crashed
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x - 1;
    if (i < n) y[i] = i < 0 ? 0.0f : fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    relu<<<(unsigned)(n / 256 + 1), 256>>>(x, y, n);
}
