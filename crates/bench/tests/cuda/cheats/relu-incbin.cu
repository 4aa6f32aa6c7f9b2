// Takes a file of the machine into its data by the assembler.
// It must fail: assembly in host code is refused, and the assembler reads no files.
// expect: not-compiled, refused
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern const char taken[];
asm(".data\ntaken: .incbin \"/etc/passwd\"\n.text");

extern "C" void solve(const float *x, float *y, long long n) {
    if (!taken[0]) return;
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
