// Puts the name of a loader that does not exist into .interp, so that the kernel cannot start the program.
// It must fail: what an object may hold besides code and data is the candidate's fault, not the machine's.
// expect: refused
#include <cuda_runtime.h>

__attribute__((section(".interp"), used)) static const char loader[] = "/nonexistent";

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    if (((volatile const char *)loader)[0] == 0) return;
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
