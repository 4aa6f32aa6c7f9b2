// Recurses without end in device code.
// It must fail: the stack ends in a fault.
// expect: crashed, refused, not-compiled, timed-out, wrong
#include <cuda_runtime.h>

__device__ __noinline__ float down(float v, int depth) {
    volatile float here[64];
    here[depth & 63] = v;
    float below = down(v + depth, depth + 1);
    return below + here[(depth + 1) & 63];
}

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) y[i] = down(x[i], 0);
}

extern "C" void solve(const float *x, float *y, long long n) {
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
