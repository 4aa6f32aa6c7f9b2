// Writes the keyword for inline PTX with universal character names.
// It must fail: this stage forbids it, or the spelling is no keyword.
// expect: refused, not-compiled, malformed
// stage: coalescing
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i >= n) return;
    float v;
    __\u0061sm__("ld.global.f32 %0, [%1];" : "=f"(v) : "l"(x + i));
    y[i] = fmaxf(v, 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) { relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n); }
