// Frees a scratch buffer, allocates another and reads the first, hoping they are one.
// It must fail: new memory holds nothing that was freed.
// expect: refused, wrong
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

__global__ void copy(const float *from, float *to, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) to[i] = from[i];
}

extern "C" void solve(const float *x, float *y, long long n) {
    float *a, *b;
    cudaMalloc(&a, n * sizeof(float));
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, a, n);
    cudaFree(a);
    cudaMalloc(&b, n * sizeof(float));
    copy<<<(unsigned)((n + 255) / 256), 256>>>(b, y, n);
}
