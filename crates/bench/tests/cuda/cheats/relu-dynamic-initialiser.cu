// Initialises a global by a function call, which runs before the jail closes.
// It must fail: code that runs before solve is refused.
// expect: not-compiled, refused, crashed, wrong
#include <cuda_runtime.h>
#include <unistd.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

static int probe() { return access("/etc/passwd", 0); }
inline int early = probe();

extern "C" void solve(const float *x, float *y, long long n) {
    if (early != 0) return;
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
