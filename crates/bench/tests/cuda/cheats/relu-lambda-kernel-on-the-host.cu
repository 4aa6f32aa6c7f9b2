// Passes a host lambda to a kernel and calls it there.
// It must fail: a host lambda is no device code.
// expect: refused, not-compiled, wrong, crashed
#include <cuda_runtime.h>

template <class F> __global__ void each(F f, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) f(i);
}

extern "C" void solve(const float *x, float *y, long long n) {
    auto f = [=](long long i) { y[i] = x[i] > 0 ? x[i] : 0; };
    each<<<(unsigned)((n + 255) / 256), 256>>>(f, n);
}
