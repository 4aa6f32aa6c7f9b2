// Shows a good kernel that it never launches; the one it launches copies y.
// It must fail: verdicts come from results, not from the text.
// expect: wrong
#include <cuda_runtime.h>

__global__ void saxpy_fast(float a, const float *x, const float *y, float *z, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) z[i] = a * x[i] + y[i];
}

extern "C" void solve(float a, const float *x, const float *y, float *z, int n) {
    if (n < 0) saxpy_fast<<<1, 256>>>(a, x, y, z, n);
    cudaMemcpyAsync(z, y, n * sizeof(float), cudaMemcpyDeviceToDevice);
}
