// Declares a device array of 110 GB: the module loads, and nobody else has room any more.
// It must fail: memory is limited whether by cudaMalloc or by a variable; the examiner's own
// need is no error of the machine.
// expect: not-compiled, crashed, refused
#include <cuda_runtime.h>

__device__ float most[27500000000ull];

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = most[i << 8] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
