// A pointer to a kernel is launched behind an `if`; a dim3 made of a uint3.
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    const long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    void (*kernel)(const float *, float *, long long) = relu;
    const uint3 threads = dim3(256);
    if (n > 0) (*kernel)<<<(unsigned)((n + 255) / 256), dim3(threads)>>>(x, y, n);
}
