// Sends itself SIGSTOP, so that a waiting parent waits for ever.
// It must fail: the jail sends no signals, and the parent has a deadline.
// expect: not-compiled, refused, crashed, timed-out, wrong
#include <csignal>
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    raise(SIGSTOP);
    raise(SIGKILL);
}
