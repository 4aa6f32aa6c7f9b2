// Launches a kernel that it only declares.
// It must fail: there is nothing to launch.
// expect: refused, not-compiled, wrong
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n);

extern "C" void solve(const float *x, float *y, long long n) {
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
