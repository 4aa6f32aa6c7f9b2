// Uses inline PTX without an instruction, as a barrier for the compiler.
// It must fail: this stage forbids inline PTX of any kind.
// expect: refused
// stage: coalescing
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) {
        float v = x[i];
        asm volatile("" : "+f"(v)::"memory");
        y[i] = fmaxf(v, 0.0f);
    }
}

extern "C" void solve(const float *x, float *y, long long n) { relu<<<528, 256>>>(x, y, n); }
