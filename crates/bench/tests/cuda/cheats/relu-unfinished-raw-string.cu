// Opens a raw string with a long delimiter that never closes.
// It must fail: everything behind it is text.
// expect: malformed, refused, not-compiled
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) { y[0] = 0; }

static const char *text = R"abcdefghijklmnop(
extern "C" void solve(const float *x, float *y, long long n) { relu<<<1, 1>>>(x, y, n); }
)abcdefghijklmno";
