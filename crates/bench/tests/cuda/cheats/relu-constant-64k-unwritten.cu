// Uses the whole constant bank and trusts that an earlier module left the right numbers in it.
// It must fail: a module's constants start as zeros; the answer is all zeros.
// expect: wrong
#include <cuda_runtime.h>

__constant__ float table[16 * 1024];

__global__ void relu(float *y, long long n) {
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) y[i] = table[i % (16 * 1024)];
}

extern "C" void solve(const float *x, float *y, long long n) { relu<<<264, 256>>>(y, n); }
