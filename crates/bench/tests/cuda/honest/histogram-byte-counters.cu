// Each thread counts in bytes of its own in dynamic shared memory, for fewer than 256 elements.
#include <cuda_runtime.h>

#define THREADS 128
#define ITEMS 240

__global__ void histogram_fast(const int *x, int *counts, int n) {
    extern __shared__ unsigned char bytes[];  // [value][thread]
    unsigned *words = (unsigned *)bytes;
    for (int w = threadIdx.x; w < 256 * THREADS / 4; w += THREADS) words[w] = 0;
    __syncthreads();
    const long long first = (long long)blockIdx.x * (THREADS * ITEMS);
    for (int k = 0; k < ITEMS; k++) {
        const long long i = first + k * THREADS + threadIdx.x;
        if (i < n) bytes[x[i] * THREADS + threadIdx.x]++;
    }
    __syncthreads();
    for (int value = threadIdx.x; value < 256; value += THREADS) {
        unsigned sum = 0;
        for (int w = 0; w < THREADS / 4; w++) {
            // Starts at another word in each thread, so that the threads use different banks.
            const unsigned four = words[value * (THREADS / 4) + (w + threadIdx.x) % (THREADS / 4)];
            sum += (four & 255u) + (four >> 8 & 255u) + (four >> 16 & 255u) + (four >> 24);
        }
        if (sum) atomicAdd(&counts[value], (int)sum);
    }
}

extern "C" void solve(const int *x, int *counts, int n) {
    const int blocks = (int)(((long long)n + THREADS * ITEMS - 1) / (THREADS * ITEMS));
    cudaMemset(counts, 0, 256 * sizeof(int));
    histogram_fast<<<blocks, THREADS, 256 * THREADS>>>(x, counts, n);
}
