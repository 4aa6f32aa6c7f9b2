// No global atomics: every block stores its counters in scratch memory, and a second kernel adds them.
#include <cuda_runtime.h>

static constexpr int blocks = 512;

__global__ void count_blocks(const int *x, int *scratch, int n) {
    __shared__ int bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    const int length = (n - 1) / blocks + 1;
    const long long first = (long long)blockIdx.x * length;
    for (long long i = first + threadIdx.x; i < first + length && i < n; i += 256) atomicAdd(&bins[x[i]], 1);
    __syncthreads();
    scratch[blockIdx.x * 256 + threadIdx.x] = bins[threadIdx.x];
}

__global__ void add_blocks(const int *scratch, int *counts) {
    __shared__ int sums[128];
    int sum = 0;
    for (int b = threadIdx.x; b < blocks; b += 128) sum += scratch[b * 256 + blockIdx.x];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 64; half; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) counts[blockIdx.x] = sums[0];
}

extern "C" void solve(const int *x, int *counts, int n) {
    int *scratch;
    cudaMalloc(&scratch, blocks * 256 * sizeof(int));
    count_blocks<<<blocks, 256>>>(x, scratch, n);
    add_blocks<<<256, 128>>>(scratch, counts);
    cudaFree(scratch);
}
