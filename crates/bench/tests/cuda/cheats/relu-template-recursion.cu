// Recurses in templates without an end.
// It must fail: the depth of templates is limited.
// expect: not-compiled, timed-out, refused
#include <cuda_runtime.h>

template <long long N> struct Down { static constexpr long long value = Down<N + 1>::value; };

__global__ void relu(const float *x, float *y, long long n) { y[0] = (float)Down<0>::value; }

extern "C" void solve(const float *x, float *y, long long n) { relu<<<1, 1>>>(x, y, n); }
