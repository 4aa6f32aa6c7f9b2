#include <cuda_runtime.h>

__global__ void histogram_kernel(const int* x, int* counts, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(&counts[x[i]], 1);
    }
}

extern "C" void solve(const int* x, int* counts, int n) {
    int threads = 256;
    int blocks = (n + threads - 1) / threads;
    cudaMemset(counts, 0, 256 * sizeof(int));
    histogram_kernel<<<blocks, threads>>>(x, counts, n);
}
