// Asynchronous copies by inline PTX into three buffers; what lies outside is filled with zeros.
#include <cuda_runtime.h>

#define SIDE 64
#define DEPTH 16
#define STAGES 3

// Copies four bytes, or writes zeros where `inside` is false.
__device__ __forceinline__ void copy_async(float *to, const float *from, bool inside) {
    const unsigned address = (unsigned)__cvta_generic_to_shared(to);
    const int bytes = inside ? 4 : 0;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(address), "l"(from), "r"(bytes) : "memory");
}

__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

__device__ __forceinline__ void wait_for_oldest() { asm volatile("cp.async.wait_group 1;" ::: "memory"); }

__global__ void __launch_bounds__(256) matmul_fast(const float *A, const float *B, float *C, int N) {
    __shared__ float a[STAGES][DEPTH][SIDE + 1], b[STAGES][DEPTH][SIDE];
    const int top = blockIdx.y * SIDE, left = blockIdx.x * SIDE;
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16, slabs = (N + DEPTH - 1) / DEPTH;
    auto fetch = [&](int slab) {
        if (slab < slabs) {
            for (int e = threadIdx.x; e < SIDE * DEPTH; e += 256) {
                const int row = top + e / DEPTH, k = slab * DEPTH + e % DEPTH;
                const bool a_inside = row < N && k < N;
                copy_async(&a[slab % STAGES][e % DEPTH][e / DEPTH], a_inside ? A + (size_t)row * N + k : A, a_inside);
                const int k_of_b = slab * DEPTH + e / SIDE, column = left + e % SIDE;
                const bool b_inside = k_of_b < N && column < N;
                copy_async(&b[slab % STAGES][e / SIDE][e % SIDE], b_inside ? B + (size_t)k_of_b * N + column : B, b_inside);
            }
        }
        commit();  // also where there is nothing to fetch, so that groups can be counted
    };
    float sums[4][4] = {};
    fetch(0);
    fetch(1);
    for (int slab = 0; slab < slabs; slab++) {
        wait_for_oldest();
        __syncthreads();
        fetch(slab + 2);
        const int now = slab % STAGES;
#pragma unroll
        for (int k = 0; k < DEPTH; k++) {
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) sums[i][j] += a[now][k][ty * 4 + i] * b[now][k][tx + 16 * j];
        }
    }
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            const int row = top + ty * 4 + i, column = left + tx + 16 * j;
            if (row < N && column < N) C[(size_t)row * N + column] = sums[i][j];
        }
    }
}

extern "C" void solve(const float *A, const float *B, float *C, int N) {
    const int blocks = (N + SIDE - 1) / SIDE;
    matmul_fast<<<dim3(blocks, blocks), 256>>>(A, B, C, N);
}
