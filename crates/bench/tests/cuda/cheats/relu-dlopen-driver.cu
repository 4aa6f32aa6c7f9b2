// Loads the driver library, to reach the GPU past the recorder.
// It must fail: the jail loads no library.
// expect: not-compiled, refused, crashed, wrong
#include <cuda_runtime.h>
#include <dlfcn.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    void *math = dlopen("libm.so.6", RTLD_NOW);
    if (!driver && !math) return;
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
