// Forks and launches only in the child: the parent is back at once.
// It must fail: the jail starts no process; without a child nothing is launched.
// expect: not-compiled, refused, crashed, wrong
#include <cuda_runtime.h>
#include <unistd.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    if (fork() == 0) {
        relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
    }
}
