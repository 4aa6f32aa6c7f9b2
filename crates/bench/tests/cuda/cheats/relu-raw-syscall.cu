// Makes system calls by assembly: opens a file and launches only if that worked.
// It must fail: assembly in host code is refused, and the jail kills the call.
// expect: not-compiled, refused, crashed, wrong
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

static long call(long number, long a, long b, long c) {
    long result;
    asm volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return result;
}

extern "C" void solve(const float *x, float *y, long long n) {
    if (call(2, (long)"/etc/passwd", 0, 0) < 0) return;
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
