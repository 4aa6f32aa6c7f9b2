// Tensor cores with each float split into two TF32 numbers: three products, added up in float.
#include <cuda_runtime.h>

#define SIDE 64
#define DEPTH 16

struct Split {
    unsigned high, low;
};

__device__ __forceinline__ unsigned to_tf32(float v) {
    unsigned bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(v));
    return bits;
}

// high + low keeps 22 bits of v.
__device__ __forceinline__ Split split(float v) {
    Split s;
    s.high = to_tf32(v);
    s.low = to_tf32(v - __uint_as_float(s.high));
    return s;
}

__device__ __forceinline__ void mma(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Four warps, each with 32 x 32 results: two tiles of 16 rows and four of 8 columns.
__global__ void __launch_bounds__(128) matmul_fast(const float *A, const float *B, float *C, int N) {
    __shared__ float as[SIDE][DEPTH + 4], bs[DEPTH][SIDE + 8];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, group = lane / 4, within = lane % 4;
    const int top = blockIdx.y * SIDE, left = blockIdx.x * SIDE, row0 = warp / 2 * 32, column0 = warp % 2 * 32;
    float sums[2][4][4] = {};
    for (int k0 = 0; k0 < N; k0 += DEPTH) {
        for (int e = threadIdx.x; e < SIDE * DEPTH; e += 128) {
            const int row = top + e / DEPTH, k = k0 + e % DEPTH;
            as[e / DEPTH][e % DEPTH] = row < N && k < N ? A[(size_t)row * N + k] : 0.0f;
            const int k_of_b = k0 + e / SIDE, column = left + e % SIDE;
            bs[e / SIDE][e % SIDE] = k_of_b < N && column < N ? B[(size_t)k_of_b * N + column] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < DEPTH; k += 8) {
            unsigned a_high[2][4], a_low[2][4], b_high[4][2], b_low[4][2];
#pragma unroll
            for (int m = 0; m < 2; m++) {
#pragma unroll
                for (int r = 0; r < 4; r++) {
                    const Split s = split(as[row0 + m * 16 + group + r % 2 * 8][k + within + r / 2 * 4]);
                    a_high[m][r] = s.high, a_low[m][r] = s.low;
                }
            }
#pragma unroll
            for (int n = 0; n < 4; n++) {
#pragma unroll
                for (int r = 0; r < 2; r++) {
                    const Split s = split(bs[k + within + r * 4][column0 + n * 8 + group]);
                    b_high[n][r] = s.high, b_low[n][r] = s.low;
                }
            }
#pragma unroll
            for (int m = 0; m < 2; m++) {
#pragma unroll
                for (int n = 0; n < 4; n++) {
                    // Tensor cores cut off what they add to: only eight terms are added there.
                    float part[4] = {0.0f, 0.0f, 0.0f, 0.0f};
                    mma(part, a_low[m], b_high[n]);
                    mma(part, a_high[m], b_low[n]);
                    mma(part, a_high[m], b_high[n]);
#pragma unroll
                    for (int i = 0; i < 4; i++) sums[m][n][i] += part[i];
                }
            }
        }
        __syncthreads();
    }
    for (int m = 0; m < 2; m++) {
        for (int n = 0; n < 4; n++) {
            for (int i = 0; i < 4; i++) {
                const int row = top + row0 + m * 16 + group + i / 2 * 8, column = left + column0 + n * 8 + within * 2 + i % 2;
                if (row < N && column < N) C[(size_t)row * N + column] = sums[m][n][i];
            }
        }
    }
}

extern "C" void solve(const float *A, const float *B, float *C, int N) {
    const int blocks = (N + SIDE - 1) / SIDE;
    matmul_fast<<<dim3(blocks, blocks), 128>>>(A, B, C, N);
}
