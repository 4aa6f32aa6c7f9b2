// Right answer by way of a scratch buffer of half the size that it needs.
// It must fail: own buffers have ends too, and what follows them is somebody else's.
// expect: wrong, crashed
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *t, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) t[i] = fmaxf(x[i], 0.0f);
}

__global__ void copy(const float *t, float *y, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) y[i] = t[i];
}

extern "C" void solve(const float *x, float *y, long long n) {
    float *t;
    cudaMalloc(&t, (n + 1) / 2 * sizeof(float));
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, t, n);
    copy<<<(unsigned)((n + 255) / 256), 256>>>(t, y, n);
    cudaFree(t);
}
