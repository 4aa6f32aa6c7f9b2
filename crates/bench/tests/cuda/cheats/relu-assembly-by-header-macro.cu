// Inline assembly whose keyword a header's macro puts together.
// It must fail: this stage forbids inline assembly, whoever spells it.
// expect: refused
// stage: coalescing
#include <cuda_runtime.h>
#include <nv/target>

__global__ void relu_fast(const float *x, float *y, long long n) {
    long long stride = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        float v;
        _NV_CONCAT_EVAL(as, m)("max.NaN.f32 %0, %1, 0f00000000;" : "=f"(v) : "f"(x[i]));
        y[i] = v;
    }
}

extern "C" void solve(const float *x, float *y, long long n) {
    relu_fast<<<1056, 256>>>(x, y, n);
}
