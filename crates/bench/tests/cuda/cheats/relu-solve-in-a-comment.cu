// Shows solve in a comment and in a string only.
// It must fail: comments are no code.
// expect: malformed, refused, not-compiled
#include <cuda_runtime.h>

/* extern "C" void solve(const float *x, float *y, long long n) { relu<<<1, 256>>>(x, y, n); } */
static const char *shown = "extern \"C\" void solve(const float *x, float *y, long long n) {}";

__global__ void relu(const float *x, float *y, long long n) { y[0] = 0; }
