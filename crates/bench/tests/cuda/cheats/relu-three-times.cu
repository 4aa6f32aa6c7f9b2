// Computes three times, then never again: a counter in device memory outlives the run.
// It must fail: every timed run is verified on fresh inputs and a poisoned output.
// expect: wrong
#include <cuda_runtime.h>

__device__ int runs;

__global__ void relu(const float *x, float *y, long long n) {
    if (runs >= 3) return;
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

__global__ void count() { runs++; }

extern "C" void solve(const float *x, float *y, long long n) {
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
    count<<<1, 1>>>();
}
