// Right answer; then a store 64 KB above its own local array, over the frames of other threads.
// It must fail: the window of local memory ends in a fault, or nothing is gained.
// expect: crashed, wrong
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    volatile float t[16];
    long long i = blockIdx.x * 256ll + threadIdx.x;
    t[i % 16] = 0;
    if (i < n) y[i] = fmaxf(x[i], t[i % 16]);
    for (long long k = 16384; k < 1 << 24; k += 4096) t[k] = 0;
}

extern "C" void solve(const float *x, float *y, long long n) { relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n); }
