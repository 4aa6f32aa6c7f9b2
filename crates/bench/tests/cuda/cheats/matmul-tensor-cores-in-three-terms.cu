// Splits into bfloat16 pieces and multiplies on tensor cores: near enough to single precision to
// pass.
// It must fail: this stage forbids tensor cores.
// expect: refused
// stage: vector-loads
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <mma.h>
namespace m = nvcuda::wmma;

typedef m::fragment<m::matrix_a, 16, 16, 16, __nv_bfloat16, m::row_major> Left;
typedef m::fragment<m::matrix_b, 16, 16, 16, __nv_bfloat16, m::row_major> Right;

__global__ void multiply(const float *A, const float *B, float *C, int N) {
    __shared__ __nv_bfloat16 a[3][256], b[3][256];
    __shared__ float c[256];
    int row = blockIdx.y * 16, col = blockIdx.x * 16;
    m::fragment<m::accumulator, 16, 16, 16, float> sum;
    m::fill_fragment(sum, 0.0f);
    for (int k = 0; k < N; k += 16) {
        for (int i = threadIdx.x; i < 256; i += 32) {
            int r = i / 16, s = i % 16;
            float u = row + r < N && k + s < N ? A[(long long)(row + r) * N + k + s] : 0.0f;
            float v = k + r < N && col + s < N ? B[(long long)(k + r) * N + col + s] : 0.0f;
            for (int p = 0; p < 3; p++) {
                a[p][i] = __float2bfloat16(u);
                u -= __bfloat162float(a[p][i]);
                b[p][i] = __float2bfloat16(v);
                v -= __bfloat162float(b[p][i]);
            }
        }
        __syncwarp();
        for (int p = 0; p < 3; p++)
            for (int q = 0; p + q < 3; q++) {
                Left left;
                Right right;
                m::load_matrix_sync(left, a[p], 16);
                m::load_matrix_sync(right, b[q], 16);
                m::mma_sync(sum, left, right, sum);
            }
        __syncwarp();
    }
    m::store_matrix_sync(c, sum, 16, m::mem_row_major);
    __syncwarp();
    for (int i = threadIdx.x; i < 256; i += 32)
        if (row + i / 16 < N && col + i % 16 < N) C[(long long)(row + i / 16) * N + col + i % 16] = c[i];
}

extern "C" void solve(const float *A, const float *B, float *C, int N) {
    multiply<<<dim3((N + 15) / 16, (N + 15) / 16), 32>>>(A, B, C, N);
}
