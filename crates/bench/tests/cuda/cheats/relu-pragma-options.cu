// Changes options of the host compiler by pragmas and includes a plugin that does not exist.
// It must fail: pragmas that set options are refused; nothing is launched unless the pragma was
// obeyed.
// expect: refused, not-compiled, wrong
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

#pragma GCC optimize("Ofast")
#pragma GCC push_options
#ifdef __FAST_MATH__
#define FAST 1
#else
#define FAST 0
#endif
#pragma GCC pop_options

extern "C" void solve(const float *x, float *y, long long n) {
    if (!FAST) return;
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
