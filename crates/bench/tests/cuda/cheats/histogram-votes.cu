// Counts equal numbers in a warp by match and ballot before it adds.
// It must fail: this stage forbids warp primitives.
// expect: refused
// stage: vector-loads
#include <cuda_runtime.h>

__global__ void count(const int *x, int *counts, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    unsigned here = __activemask();
    if (i < n) {
        unsigned same = __match_any_sync(__activemask() & here, x[i]);
        if (threadIdx.x % 32 == __ffs(same) - 1) atomicAdd(&counts[x[i]], __popc(same));
    }
}

extern "C" void solve(const int *x, int *counts, int n) {
    cudaMemset(counts, 0, 1024);
    count<<<(n + 255) / 256, 256>>>(x, counts, n);
}
