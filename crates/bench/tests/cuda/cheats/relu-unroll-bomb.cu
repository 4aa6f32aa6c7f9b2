// Demands that nested loops of millions of steps be unrolled.
// It must fail: compilation has a limit of time and memory; should it end, the answer is off.
// expect: not-compiled, timed-out, wrong, refused
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
#pragma unroll
    for (int a = 0; a < 1000; a++)
#pragma unroll
        for (int b = 0; b < 1000; b++) v = sinf(v * a) + cosf(v + b);
    y[i] = fmaxf(v, 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) { relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n); }
