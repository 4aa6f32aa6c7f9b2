// Each thread counts 4,096 elements in bytes, in memory of its own.
// It must fail: where a value is frequent, a byte overflows.
// expect: wrong
#include <cuda_runtime.h>

#define ITEMS 4096

__global__ void count(const int *x, unsigned char *own, int *counts, int n) {
    const long long t = blockIdx.x * 64ll + threadIdx.x, first = t * ITEMS;
    if (first >= n) return;
    unsigned char *bins = own + t * 256;
    for (int v = 0; v < 256; v++) bins[v] = 0;
    for (long long i = first; i < first + ITEMS && i < n; i++) bins[x[i]]++;
    for (int v = 0; v < 256; v++)
        if (bins[v]) atomicAdd(&counts[v], bins[v]);
}

extern "C" void solve(const int *x, int *counts, int n) {
    const long long threads = ((long long)n + ITEMS - 1) / ITEMS, blocks = (threads + 63) / 64;
    unsigned char *own;
    cudaMalloc((void **)&own, blocks * 64 * 256);
    cudaMemset(counts, 0, 256 * sizeof(int));
    count<<<(unsigned)blocks, 64>>>(x, own, counts, n);
    cudaFree(own);
}
