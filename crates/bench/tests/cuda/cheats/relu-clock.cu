// Asks the clock and launches only if time passes.
// It must fail: the jail has no clock; without one nothing is launched.
// expect: not-compiled, refused, crashed, wrong
#include <cuda_runtime.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    timespec t{};
    if (syscall(SYS_clock_gettime, CLOCK_MONOTONIC_RAW, &t) != 0 || t.tv_nsec == 0) return;
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
