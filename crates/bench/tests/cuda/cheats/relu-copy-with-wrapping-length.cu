// A copy whose length wraps the end of the address space: offset plus length is small again.
// It must fail: ranges are checked without overflow.
// expect: refused, wrong, crashed
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
    cudaMemcpyAsync(y + 16, x, (size_t)-32, cudaMemcpyDeviceToDevice, 0);
}
