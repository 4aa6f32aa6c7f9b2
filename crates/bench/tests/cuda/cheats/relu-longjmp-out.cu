// Jumps out of solve into the frame that called it.
// It must fail: the jump leads nowhere; nothing is launched.
// expect: not-compiled, refused, crashed, wrong, timed-out
#include <csetjmp>
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

static jmp_buf nowhere;

extern "C" void solve(const float *x, float *y, long long n) {
    longjmp(nowhere, 1);
}
