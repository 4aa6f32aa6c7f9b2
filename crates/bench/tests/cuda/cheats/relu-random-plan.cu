// Draws random bits from the system and launches every second time only.
// It must fail: the jail gives no randomness; a plan is a function of the problem.
// expect: not-compiled, refused, crashed, wrong
#include <cuda_runtime.h>
#include <sys/random.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    unsigned char b[8];
    if (getrandom(b, sizeof b, 0) != (ssize_t)sizeof b) return;
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
