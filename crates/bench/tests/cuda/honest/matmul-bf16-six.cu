// Each float is split into three bf16 numbers, which hold all its bits: six products by wmma.
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <mma.h>

using namespace nvcuda;

#define SIDE 32
#define DEPTH 16
#define A_PITCH (DEPTH + 8)
#define B_PITCH (SIDE + 8)

typedef wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> FragmentA;
typedef wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> FragmentB;
typedef wmma::fragment<wmma::accumulator, 16, 16, 16, float> Sums;

// The three parts lie `plane` elements apart.
__device__ void store_parts(__nv_bfloat16 *to, int plane, float v) {
    for (int p = 0; p < 3; p++) {
        const __nv_bfloat16 part = __float2bfloat16(v);
        to[p * plane] = part;
        v -= __bfloat162float(part);
    }
}

// Four warps, each with 16 x 16 results.
__global__ void __launch_bounds__(128) matmul_fast(const float *A, const float *B, float *C, int N) {
    __shared__ __align__(32) __nv_bfloat16 as[3 * SIDE * A_PITCH];
    __shared__ __align__(32) __nv_bfloat16 bs[3 * DEPTH * B_PITCH];
    __shared__ __align__(32) float out[4][16 * 16];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row0 = warp / 2 * 16, column0 = warp % 2 * 16;
    const int top = blockIdx.y * SIDE, left = blockIdx.x * SIDE;
    Sums sums;
    wmma::fill_fragment(sums, 0.0f);
    for (int k0 = 0; k0 < N; k0 += DEPTH) {
        for (int e = threadIdx.x; e < SIDE * DEPTH; e += 128) {
            const int row = top + e / DEPTH, k = k0 + e % DEPTH;
            store_parts(&as[e / DEPTH * A_PITCH + e % DEPTH], SIDE * A_PITCH, row < N && k < N ? A[(size_t)row * N + k] : 0.0f);
            const int k_of_b = k0 + e / SIDE, column = left + e % SIDE;
            store_parts(&bs[e / SIDE * B_PITCH + e % SIDE], DEPTH * B_PITCH, k_of_b < N && column < N ? B[(size_t)k_of_b * N + column] : 0.0f);
        }
        __syncthreads();
        FragmentA a[3];
        FragmentB b[3];
        for (int p = 0; p < 3; p++) {
            wmma::load_matrix_sync(a[p], &as[(p * SIDE + row0) * A_PITCH], A_PITCH);
            wmma::load_matrix_sync(b[p], &bs[p * DEPTH * B_PITCH + column0], B_PITCH);
        }
        Sums part;
        wmma::fill_fragment(part, 0.0f);
        wmma::mma_sync(part, a[2], b[0], part);
        wmma::mma_sync(part, a[1], b[1], part);
        wmma::mma_sync(part, a[0], b[2], part);
        wmma::mma_sync(part, a[1], b[0], part);
        wmma::mma_sync(part, a[0], b[1], part);
        wmma::mma_sync(part, a[0], b[0], part);
        for (int i = 0; i < sums.num_elements; i++) sums.x[i] += part.x[i];
        __syncthreads();
    }
    wmma::store_matrix_sync(out[warp], sums, 16, wmma::mem_row_major);
    __syncwarp();
    for (int e = lane; e < 256; e += 32) {
        const int row = top + row0 + e / 16, column = left + column0 + e % 16;
        if (row < N && column < N) C[(size_t)row * N + column] = out[warp][e];
    }
}

extern "C" void solve(const float *A, const float *B, float *C, int N) {
    const int blocks = (N + SIDE - 1) / SIDE;
    matmul_fast<<<dim3(blocks, blocks), 128>>>(A, B, C, N);
}
