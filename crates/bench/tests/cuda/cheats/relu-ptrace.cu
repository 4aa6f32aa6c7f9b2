// Attaches to its parent to change what the parent reads.
// It must fail: the jail traces nobody.
// expect: not-compiled, refused, crashed, wrong
#include <cuda_runtime.h>
#include <sys/ptrace.h>
#include <unistd.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    if (ptrace(PTRACE_ATTACH, getppid(), 0, 0) != 0) return;
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
