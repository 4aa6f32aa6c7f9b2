// Runs a command and launches only if it ran.
// It must fail: the jail starts no process.
// expect: not-compiled, refused, crashed, wrong, timed-out
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    if (system("true") != 0) return;
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
