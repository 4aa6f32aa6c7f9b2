// Gives a function the name of a system function by an assembly label.
// It must fail: labels are refused, and the call is not linked or not allowed.
// expect: not-compiled, refused, crashed, wrong
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" int look(const char *, int) asm("access");

extern "C" void solve(const float *x, float *y, long long n) {
    if (look("/etc/passwd", 0) != 0) return;
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
