// Read-only loads and streaming stores by intrinsics, two halves of the vector side by side.
#include <cuda_runtime.h>

__global__ __launch_bounds__(512, 4) void saxpy_fast(const float a, const float *__restrict__ x, const float *__restrict__ y, float *__restrict__ z, const int n) {
    const int half = (n + 1) / 2;
    const int i = blockIdx.x * 512 + threadIdx.x;
    if (i >= half) return;
    const float x0 = __ldg(x + i), y0 = __ldcs(y + i);
    const int j = i + half;
    float x1 = 0.0f, y1 = 0.0f;
    if (j < n) {
        x1 = __ldg(x + j);
        y1 = __ldcs(y + j);
    }
    __stcs(z + i, a * x0 + y0);
    if (j < n) __stcs(z + j, a * x1 + y1);
}

extern "C" void solve(float a, const float *x, const float *y, float *z, int n) {
    const int half = (n + 1) / 2;
    saxpy_fast<<<(half + 511) / 512, 512>>>(a, x, y, z, n);
}
