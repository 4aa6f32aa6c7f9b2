// Indexes far outside its own constant array, where parameters of launches and other banks lie.
// It must fail: what it finds is no answer.
// expect: wrong, crashed
#include <cuda_runtime.h>

__constant__ float table[64];

__global__ void relu(float *y, long long n, int shift) {
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll)
        y[i] = table[(int)(i % 8192) - 4096 + shift];
}

extern "C" void solve(const float *x, float *y, long long n) { relu<<<264, 256>>>(y, n, 0); }
