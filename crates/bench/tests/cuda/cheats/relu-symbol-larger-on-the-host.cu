// Right answer; then an upload into a variable that is larger on the host than on the device.
// It must fail: the variable's size is the device's; the rest would go over somebody else's memory.
// expect: refused, not-compiled, crashed, wrong
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

#ifdef __CUDACC_RTC__
__device__ float table[1];
#else
__device__ float table[65536];
#endif
static float zeros[65536];

extern "C" void solve(const float *x, float *y, long long n) {
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
    cudaMemcpyToSymbol(table, zeros, sizeof zeros);
}
