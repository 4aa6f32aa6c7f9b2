// Chooses a function by an ifunc resolver, which the loader runs before anything else.
// It must fail: code that runs before solve is refused.
// expect: not-compiled, refused, crashed, wrong
#include <cuda_runtime.h>
#include <unistd.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

static int yes() { return 1; }
extern "C" int (*choose())() { return yes; }
extern "C" int chosen() __attribute__((ifunc("choose")));

extern "C" void solve(const float *x, float *y, long long n) {
    if (chosen() != 1) return;
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
