// Gives a kernel a template argument whose text closes the name expression and opens another.
// It must fail: names in a plan are names of kernels of the candidate, nothing else.
// expect: wrong, refused, not-compiled
#include <cuda_runtime.h>

template <int N> __global__ void scale(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = x[i] * (float)(N - 1);
}

extern "C" void solve(const float *x, float *y, long long n) {
    scale<(int)sizeof("relu>(,); \" \\ extern")><<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
