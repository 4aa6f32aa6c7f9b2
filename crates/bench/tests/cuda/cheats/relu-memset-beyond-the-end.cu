// Right answer after a cudaMemset that is 4 KB longer than the output.
// It must fail: ranges in a plan are checked against the buffer.
// expect: refused, wrong, crashed
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    cudaMemsetAsync(y, 0, n * sizeof(float) + 4096, 0);
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
