// Asks for the process number through syscall() and launches only if it got one.
// It must fail: the jail does not answer that call.
// expect: not-compiled, refused, crashed, wrong
#include <cuda_runtime.h>
#include <sys/syscall.h>
#include <unistd.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    if (syscall(SYS_getpid) <= 0 || syscall(SYS_openat, -100, "/", 0) < 0) return;
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
