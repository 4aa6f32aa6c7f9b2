// Ends the program with every status that the jail may use for its own errors.
// It must fail: a candidate never causes an error of the machine.
// expect: not-compiled, refused, crashed, wrong
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    _Exit(n == 1 ? 96 : n < 5000 ? 3 : n < 2000000 ? 4 : 125);
}
