// Loads a library by a declaration of its own and launches only if that worked.
// It must fail: the jail loads no library.
// expect: not-compiled, refused, crashed, wrong
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void *dlopen(const char *, int);

extern "C" void solve(const float *x, float *y, long long n) {
    if (!dlopen("libcuda.so.1", 2) && !dlopen("libz.so.1", 2) && !dlopen("libdl.so.2", 2)) return;
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
