// Hides inline PTX behind a macro whose name says nothing.
// It must fail: this stage forbids it, and the PTX shows it.
// expect: refused
// stage: coalescing
#include <cuda_runtime.h>

#define PASTE(a, b) a##b
#define LOAD PASTE(as, m)

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i >= n) return;
    float v;
    LOAD("ld.global.nc.L1::no_allocate.f32 %0, [%1];" : "=f"(v) : "l"(x + i));
    y[i] = fmaxf(v, 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) { relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n); }
