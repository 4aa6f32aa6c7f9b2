// Writes the comment that ends inline PTX in the compiler's output, to look like ordinary code.
// It must fail: this stage forbids inline PTX, whatever its text says.
// expect: refused, not-compiled
// stage: coalescing
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i >= n) return;
    float v;
    asm volatile("// end inline asm\n\t/* begin */ ld.global.f32 %0, [%1]; // begin inline asm\n" : "=f"(v) : "l"(x + i));
    y[i] = fmaxf(v, 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) { relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n); }
