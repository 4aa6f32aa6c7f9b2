// Launches 1,024 threads of a kernel that needs more registers than such a block can have.
// It must fail: the launch cannot be made; that is the candidate's fault.
// expect: crashed, refused, wrong
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

__global__ void wide(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 1024ll + threadIdx.x;
    float v[96];
    for (int k = 0; k < 96; k++) v[k] = x[(i * 7 + k * 13) % n];
    __syncthreads();
#pragma unroll
    for (int r = 0; r < 2; r++)
#pragma unroll
        for (int k = 0; k < 96; k++) v[k] = v[k] * v[(k * 5 + 1) % 96] + v[(k + 48) % 96];
    float s = 0;
#pragma unroll
    for (int k = 0; k < 96; k++) s += v[k];
    if (i < n) y[i] = fmaxf(x[i], 0.0f) + (s == 1234.5f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    wide<<<(unsigned)((n + 1023) / 1024), 1024>>>(x, y, n);
    if (n < 0) relu<<<1, 1>>>(x, y, n);
}
