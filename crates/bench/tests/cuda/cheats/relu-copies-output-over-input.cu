// Right answer; then a copy in the plan puts the output over the input.
// It must fail: a plan may not write inputs.
// expect: refused, wrong, crashed
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
    cudaMemcpy(const_cast<float *>(x), y, n * sizeof(float), cudaMemcpyDeviceToDevice);
}
