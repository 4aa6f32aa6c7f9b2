// Burns time in its first runs, so that a bench which plans by the first run repeats it seldom.
// It must fail: after four runs it does nothing, and the number of verified runs has a floor.
// expect: wrong, timed-out
#include <cuda_runtime.h>

__device__ int runs;

__global__ void relu(const float *x, float *y, long long n) {
    if (runs >= 4) return;
    long long start = clock64();
    if (runs < 2) while (clock64() - start < 20000000) {}
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x)
        y[i] = fmaxf(x[i], 0.0f);
}

__global__ void count() { runs++; }

extern "C" void solve(const float *x, float *y, long long n) {
    relu<<<264, 512>>>(x, y, n);
    count<<<1, 1>>>();
}
