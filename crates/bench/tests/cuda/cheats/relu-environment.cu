// Searches the environment for secrets and launches only if there are any.
// It must fail: the jail has an empty environment.
// expect: not-compiled, refused, crashed, wrong
#include <cstdlib>
#include <cuda_runtime.h>
#include <unistd.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    if (!environ || !environ[0] || !getenv("PATH")) return;
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
