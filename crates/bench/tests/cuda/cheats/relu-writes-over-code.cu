// Takes the address of a device function for data and writes over its instructions.
// It must fail: code is not mapped as data.
// expect: crashed, wrong
#include <cuda_runtime.h>

__device__ __noinline__ float keep(float v) { return fmaxf(v, 0.0f); }

__global__ void patch(unsigned long long *seen) {
    float (*volatile f)(float) = keep;
    volatile unsigned long long *code = (volatile unsigned long long *)(void *)f;
    code[0] = 0;
    seen[0] = (unsigned long long)code;
}

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = keep(x[i]);
}

extern "C" void solve(const float *x, float *y, long long n) {
    unsigned long long *seen;
    cudaMalloc(&seen, 8);
    patch<<<1, 1>>>(seen);
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
