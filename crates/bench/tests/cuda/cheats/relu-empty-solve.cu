// Launches nothing and hopes that the output already holds the answer.
// It must fail: outputs are poisoned before every run.
// expect: wrong, refused, malformed
#include <cuda_runtime.h>

extern "C" void solve(const float *x, float *y, long long n) {}
