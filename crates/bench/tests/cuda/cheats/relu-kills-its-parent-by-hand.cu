// Ends its parent by declarations of its own and launches only if that worked.
// It must fail: the jail sends no signals to others.
// expect: not-compiled, refused, crashed, wrong
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" int getppid();
extern "C" int kill(int, int);

extern "C" void solve(const float *x, float *y, long long n) {
    if (kill(getppid(), 15) != 0) return;
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
