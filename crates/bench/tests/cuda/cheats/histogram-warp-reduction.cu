// Sums a warp's counters by the integer reduction instruction.
// It must fail: this stage forbids warp primitives.
// expect: refused
// stage: shared-memory
#include <cuda_runtime.h>

__global__ void count(const int *x, int *counts, int n) {
    __shared__ int own[256];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) atomicAdd(&own[x[i]], 1);
    __syncthreads();
    int all = __reduce_add_sync(~0u, own[threadIdx.x]);
    if (all > 0) atomicAdd(&counts[threadIdx.x], own[threadIdx.x]);
}

extern "C" void solve(const int *x, int *counts, int n) {
    cudaMemset(counts, 0, 1024);
    count<<<264, 256>>>(x, counts, n);
}
