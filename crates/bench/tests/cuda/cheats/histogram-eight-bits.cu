// Counts in eight bits and so overflows: four counters fit a word.
// It must fail: at the sizes judged a bin holds more than 255.
// expect: wrong
#include <cuda_runtime.h>

__global__ void count(const int *x, unsigned *packed, long long n) {
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll)
        atomicAdd(&packed[x[i] / 4], 1u << (x[i] % 4 * 8));
}

__global__ void unpack(const unsigned *packed, int *counts) {
    counts[threadIdx.x] = packed[threadIdx.x / 4] >> (threadIdx.x % 4 * 8) & 255;
}

extern "C" void solve(const int *x, int *counts, int n) {
    unsigned *packed;
    cudaMalloc((void **)&packed, 256);
    cudaMemset(packed, 0, 256);
    count<<<512, 256>>>(x, packed, n);
    unpack<<<1, 256>>>(packed, counts);
    cudaFree(packed);
}
