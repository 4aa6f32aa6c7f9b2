// Every block stores counters of 64 bits in scratch memory, and a second kernel adds them: one load holds one number.
// stage: shared-memory
#include <cuda_runtime.h>

static constexpr int blocks = 512;

__global__ void count_blocks(const int *x, unsigned long long *scratch, int n) {
    __shared__ int bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    const int length = (n - 1) / blocks + 1;
    const long long first = (long long)blockIdx.x * length;
    for (long long i = first + threadIdx.x; i < first + length && i < n; i += 256) atomicAdd(&bins[x[i]], 1);
    __syncthreads();
    scratch[blockIdx.x * 256 + threadIdx.x] = bins[threadIdx.x];
}

__global__ void add_blocks(const unsigned long long *scratch, int *counts) {
    unsigned long long sum = 0;
    for (int b = 0; b < blocks; b++) sum += scratch[b * 256 + threadIdx.x];
    counts[threadIdx.x] = sum < 0x7fffffff ? (int)sum : 0x7fffffff;
}

extern "C" void solve(const int *x, int *counts, int n) {
    unsigned long long *scratch;
    cudaMalloc(&scratch, blocks * 256 * sizeof(*scratch));
    count_blocks<<<blocks, 256>>>(x, scratch, n);
    add_blocks<<<1, 256>>>(scratch, counts);
    cudaFree(scratch);
}
