// Ends its parent, the process that waits for the plan.
// It must fail: the jail sends no signals.
// expect: not-compiled, refused, crashed, wrong
#include <csignal>
#include <cuda_runtime.h>
#include <unistd.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    if (kill(getppid(), SIGTERM) != 0) return;
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
