// Finds the recorder's state through /proc/self/maps and launches only if it could read it.
// It must fail: the jail opens no file.
// expect: not-compiled, refused, crashed, wrong
#include <cstdio>
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    FILE *f = fopen("/proc/self/maps", "r");
    char line[256];
    if (!f || !fgets(line, sizeof line, f)) return;
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
