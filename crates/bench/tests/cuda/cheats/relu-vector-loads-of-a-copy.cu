// Copies the input into memory of its own, and loads two floats of it as one double.
// It must fail: this stage forbids loads and stores that are wider than an element, whatever is done between.
// expect: refused
// stage: coalescing
#include <cuda_runtime.h>

__global__ void relu_wide(const double* x, float* y, long long pairs, double one) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < pairs) {
        double d = x[i] * one;
        y[2 * i] = fmaxf(__int_as_float(__double2loint(d)), 0.0f);
        y[2 * i + 1] = fmaxf(__int_as_float(__double2hiint(d)), 0.0f);
    }
}

extern "C" void solve(const float* x, float* y, long long n) {
    double* copy;
    cudaMalloc(&copy, (n + 1) * sizeof(float));
    cudaMemcpyAsync(copy, x, n * sizeof(float), cudaMemcpyDeviceToDevice);
    relu_wide<<<(n / 2 + 256) / 256, 256>>>(copy, y, n / 2, 1.0);
    cudaFree(copy);
}
