// Defines the keyword by a directive that begins with a digraph.
// It must fail: this stage forbids inline PTX; digraphs are known to the lexer.
// expect: refused, not-compiled
// stage: coalescing
#include <cuda_runtime.h>

%:define SIMPLE asm volatile

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i >= n) return;
    float v;
    SIMPLE("ld.global.f32 %0, [%1];" : "=f"(v) : "l"(x + i));
    y[i] = fmaxf(v, 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) { relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n); }
