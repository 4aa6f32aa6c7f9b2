// Frees the task's output and allocates its own in its place.
// It must fail: the output is not the candidate's to free; the answer lands elsewhere.
// expect: refused, wrong, not-compiled
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    float *own;
    cudaFree(y);
    cudaMalloc(&own, n * sizeof(float));
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, own, n);
}
