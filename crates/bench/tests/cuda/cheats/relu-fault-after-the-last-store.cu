// Right answer; the fault comes in a second kernel, which a bench that checks too early never sees.
// It must fail: a run counts when all of its work has ended well.
// expect: crashed
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

__global__ void late(float *y) {
    long long start = clock64();
    while (clock64() - start < 3000000) {}
    ((volatile float *)y)[1ll << 42] = 0;
}

extern "C" void solve(const float *x, float *y, long long n) {
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
    late<<<1, 1>>>(y);
}
