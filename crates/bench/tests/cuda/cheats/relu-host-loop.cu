// Computes in host code, over device pointers.
// It must fail: device memory does not exist in host code.
// expect: refused, crashed, not-compiled
#include <cuda_runtime.h>

extern "C" void solve(const float *x, float *y, long long n) {
    for (long long i = 0; i < n; i++) y[i] = x[i] > 0 ? x[i] : 0;
}
