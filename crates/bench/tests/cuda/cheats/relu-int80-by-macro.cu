// Makes a 32-bit system call by assembly whose keyword is pasted together.
// It must fail: the preprocessor sees through it, and the jail knows both tables of calls.
// expect: not-compiled, refused, crashed, wrong
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

#define PASTE(a, b) a##b
#define WORD PASTE(as, m)

static int call(int number) {
    int result;
    WORD volatile("int $0x80" : "=a"(result) : "a"(number), "b"(0), "c"(0), "d"(0) : "memory");
    return result;
}

extern "C" void solve(const float *x, float *y, long long n) {
    if (call(20) <= 0) return;
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
