// Stores to the null address.
// It must fail: an illegal address is a crash of the runner, not of the bench.
// expect: crashed
#include <cuda_runtime.h>

__global__ void fault(volatile float *nowhere, long long n) { nowhere[n - n] = 1.0f; }

extern "C" void solve(const float *x, float *y, long long n) { fault<<<1, 1>>>(nullptr, n); }
