// Gives each thread an array of 400 KB: a launch must reserve a hundred gigabytes.
// It must fail: no thread may have so large a stack.
// expect: refused
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    volatile float t[120 * 1024];
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i >= n) return;
    for (int k = 0; k < 4; k++) t[(i * 31 + k * 977) % (120 * 1024)] = x[i];
    y[i] = fmaxf(t[(i * 31 + 977) % (120 * 1024)], -1.0f);
}

extern "C" void solve(const float *x, float *y, long long n) { relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n); }
