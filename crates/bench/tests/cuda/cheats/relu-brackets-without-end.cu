// Ten thousand opening parentheses.
// It must fail: it does not compile; nothing may recurse that deep.
// expect: malformed, refused, not-compiled, timed-out
#include <cuda_runtime.h>

#define P4(x) ((((x
#define P16(x) P4(P4(x
#define D ((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((
#define E D D D D D D D D D D D D D D D D
#define F E E E E E E E E E E E E E E E E

__global__ void relu(const float *x, float *y, long long n) { y[0] = F 1.0f; }

extern "C" void solve(const float *x, float *y, long long n) { relu<<<1, 1>>>(x, y, n); }
