// Lets a kernel write a managed variable and reads it on the host.
// It must fail: host code sees no data.
// expect: refused, not-compiled, wrong, crashed
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

__managed__ int done;

__global__ void mark() { done = 1; }

extern "C" void solve(const float *x, float *y, long long n) {
    mark<<<1, 1>>>();
    cudaDeviceSynchronize();
    if (done == 1) relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
