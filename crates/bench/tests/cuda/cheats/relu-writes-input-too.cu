// Right answer, but the input is rectified in place as well: a later comparison would agree with
// anything.
// It must fail: inputs are read-only and are verified.
// expect: wrong, crashed
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) const_cast<float *>(x)[i] = y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
