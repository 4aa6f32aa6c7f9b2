// Ends the program by quick_exit, past every handler.
// It must fail: a program that ends inside solve has made no plan.
// expect: not-compiled, refused, crashed, wrong
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    quick_exit(0);
}
