// Right counts, and one more bin behind the last: a store past the end of the output.
// It must fail: canaries surround every buffer.
// expect: wrong, crashed
#include <cuda_runtime.h>

__global__ void count(const int *x, int *counts, long long n) {
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) atomicAdd(&counts[x[i]], 1);
    if (blockIdx.x == 0 && threadIdx.x == 0) counts[256] = (int)n;
}

extern "C" void solve(const int *x, int *counts, int n) {
    cudaMemset(counts, 0, 1024);
    count<<<512, 256>>>(x, counts, n);
}
