// Inclusive prefix sums. The scale of y[i] is the sum of the magnitudes up to x[i].
// A block takes THREADS * ITEMS elements, a thread ITEMS consecutive ones.

#include <cuda_runtime.h>

#define THREADS 256
#define ITEMS 16

struct Pair {
    double sum, scale;
};

__device__ Pair add(Pair a, Pair b) {
    return {a.sum + b.sum, a.scale + b.scale};
}

// What stands before this thread's value in the block; `total` becomes the block's sum.
__device__ Pair block_exclusive(Pair value, Pair *total) {
    __shared__ Pair parts[THREADS];
    parts[threadIdx.x] = value;
    __syncthreads();
    for (int step = 1; step < THREADS; step *= 2) {
        Pair sum = parts[threadIdx.x];
        if (threadIdx.x >= step) sum = add(parts[threadIdx.x - step], sum);
        __syncthreads();
        parts[threadIdx.x] = sum;
        __syncthreads();
    }
    *total = parts[THREADS - 1];
    const Pair before = threadIdx.x ? parts[threadIdx.x - 1] : Pair{0.0, 0.0};
    __syncthreads();
    return before;
}

__device__ long long first_item() {
    return ((long long)blockIdx.x * THREADS + threadIdx.x) * ITEMS;
}

__device__ Pair own_sum(const float *x, long long n) {
    Pair sum = {0.0, 0.0};
    for (long long i = first_item(); i < first_item() + ITEMS && i < n; i++) {
        sum = add(sum, {(double)x[i], fabs((double)x[i])});
    }
    return sum;
}

__global__ void sum_blocks(const float *x, Pair *sums, long long n) {
    Pair total;
    block_exclusive(own_sum(x, n), &total);
    if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

// One block: every sum becomes the sum of those before it.
__global__ void scan_sums(Pair *sums, int blocks) {
    Pair before = {0.0, 0.0};
    for (int first = 0; first < blocks; first += THREADS) {
        const int i = first + threadIdx.x;
        const Pair own = i < blocks ? sums[i] : Pair{0.0, 0.0};
        Pair total;
        const Pair exclusive = block_exclusive(own, &total);
        if (i < blocks) sums[i] = add(before, exclusive);
        before = add(before, total);
    }
}

__global__ void scan_blocks(const float *x, const Pair *sums, double *y, double *y_scale, long long n) {
    Pair total;
    Pair sum = add(sums[blockIdx.x], block_exclusive(own_sum(x, n), &total));
    for (long long i = first_item(); i < first_item() + ITEMS && i < n; i++) {
        sum = add(sum, {(double)x[i], fabs((double)x[i])});
        y[i] = sum.sum;
        y_scale[i] = sum.scale;
    }
}

extern "C" void reference(const float *x, double *y, double *y_scale, int n) {
    const int blocks = (n - 1) / (THREADS * ITEMS) + 1;
    Pair *sums;
    cudaMalloc(&sums, blocks * sizeof(Pair));
    sum_blocks<<<blocks, THREADS>>>(x, sums, n);
    scan_sums<<<1, THREADS>>>(sums, blocks);
    scan_blocks<<<blocks, THREADS>>>(x, sums, y, y_scale, n);
    cudaFree(sums);
}
