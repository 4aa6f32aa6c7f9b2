// Defines solve in assembly beside an empty one.
// It must fail: assembly in host code is refused.
// expect: not-compiled, refused, crashed, wrong
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

asm(".globl hidden_entry\nhidden_entry: mov $39, %eax\nsyscall\nret");
extern "C" int hidden_entry();

extern "C" void solve(const float *x, float *y, long long n) {
    if (hidden_entry() <= 0) return;
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
