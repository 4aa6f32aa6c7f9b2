// Calls an image-processing library of the toolkit.
// It must fail: libraries are not linked.
// expect: refused, not-compiled
#include <cuda_runtime.h>
#include <npp.h>

extern "C" void solve(const float *x, float *y, long long n) { nppsThreshold_LT_32f(x, y, (int)n, 0.0f); }
