// Defines cudaMalloc as a macro that hands out the output as scratch memory.
// It must fail: the second kernel overwrites what the first has written.
// expect: wrong, crashed, refused
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

#define cudaMalloc(p, bytes) (*(p) = y + 1, cudaSuccess)

__global__ void shift(float *t, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) t[i] = 0;
}

extern "C" void solve(const float *x, float *y, long long n) {
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
    float *t;
    cudaMalloc(&t, n * sizeof(float));
    shift<<<(unsigned)((n + 255) / 256), 256>>>(t, n);
}
