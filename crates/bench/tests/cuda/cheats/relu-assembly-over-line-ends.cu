// Cuts the keyword for inline PTX by a backslash at the end of a line.
// It must fail: this stage forbids it; lines are joined before words are.
// expect: refused
// stage: vector-loads
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i >= n) return;
    float v;
    as\
m volatile("ld.global.f32 %0, [%1];" : "=f"(v) : "l"(x + i));
    y[i] = fmaxf(v, 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) { relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n); }
