// Maps memory that may be executed, writes a function into it and launches if it ran.
// It must fail: the jail maps nothing executable.
// expect: not-compiled, refused, crashed, wrong
#include <cstring>
#include <cuda_runtime.h>
#include <sys/mman.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    void *p = mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return;
    memcpy(p, "\xb8\x2a\x00\x00\x00\xc3", 6);
    if (((int (*)())p)() == 42) relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
