// Maps executable memory by a declaration of its own and launches only if its code ran.
// It must fail: the jail maps nothing executable.
// expect: not-compiled, refused, crashed, wrong
#include <cstring>
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void *mmap(void *, unsigned long, int, int, int, long);

extern "C" void solve(const float *x, float *y, long long n) {
    void *p = mmap(nullptr, 4096, 7, 0x22, -1, 0);
    if (p == (void *)-1) return;
    memcpy(p, "\xb8\x2a\x00\x00\x00\xc3", 6);
    if (((int (*)())p)() == 42) relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
