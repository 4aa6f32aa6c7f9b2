// Writes to a device variable that the module does not have.
// It must fail: there is no such variable.
// expect: refused, not-compiled, wrong, crashed
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

static float not_on_the_device;

extern "C" void solve(const float *x, float *y, long long n) {
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
    float one = 1;
    cudaMemcpyToSymbol(not_on_the_device, &one, 4);
}
