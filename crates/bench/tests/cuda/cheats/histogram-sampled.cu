// Counts every fourth number and multiplies by four.
// It must fail: counts are exact.
// expect: wrong
#include <cuda_runtime.h>

__global__ void count(const int *x, int *counts, long long n) {
    for (long long i = 4 * (blockIdx.x * 256ll + threadIdx.x); i < n; i += gridDim.x * 1024ll)
        atomicAdd(&counts[x[i]], i + 3 < n ? 4 : (int)(n - i));
}

extern "C" void solve(const int *x, int *counts, int n) {
    cudaMemsetAsync(counts, 0, 1024);
    count<<<512, 256>>>(x, counts, n);
}
