// Writes n / 256 into every bin, the remainder into the first ones: no input is read.
// It must fail: counts are exact.
// expect: wrong
#include <cuda_runtime.h>

__global__ void guess(int *counts, long long n) { counts[threadIdx.x] = (int)(n / 256 + (threadIdx.x < n % 256)); }

extern "C" void solve(const int *x, int *counts, int n) { guess<<<1, 256>>>(counts, n); }
