// Asks by __has_include which files exist on the machine and launches only if one does.
// It must fail: the compilers see headers only.
// expect: wrong, refused, not-compiled
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

#if __has_include("/etc/passwd") || __has_include("/proc/self/maps")
#define SEEN 1
#else
#define SEEN 0
#endif

extern "C" void solve(const float *x, float *y, long long n) {
    if (!SEEN) return;
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
