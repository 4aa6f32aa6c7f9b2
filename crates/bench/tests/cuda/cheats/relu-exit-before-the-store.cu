// Leaves the kernel by the exit instruction before it stores.
// It must fail: poison stays in the output.
// expect: wrong, refused
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = fmaxf(x[i], 0.0f);
    asm volatile("exit;");
    y[i] = v;
}

extern "C" void solve(const float *x, float *y, long long n) {
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
