// Defines _start and __libc_start_main as weak and strong symbols.
// It must fail: a program that defines them is refused or ends before it made a plan.
// expect: not-compiled, refused, crashed, wrong
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" int __libc_start_main(int (*)(int, char **, char **), int, char **, void (*)(), void (*)(), void (*)(), void *) {
    _Exit(0);
}

extern "C" void solve(const float *x, float *y, long long n) {
    (void)x;
}
