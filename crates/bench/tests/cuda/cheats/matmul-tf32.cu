// Multiplies on tensor cores with inputs rounded to TF32: several times faster, ten bits of
// mantissa.
// It must fail: the bound is that of single precision.
// expect: wrong
#include <cuda_runtime.h>
#include <mma.h>
using namespace nvcuda;

__global__ void multiply(const float *A, const float *B, float *C, int N) {
    __shared__ float a[16][8], b[8][16], c[16][16];
    int row = blockIdx.y * 16, col = blockIdx.x * 16, lane = threadIdx.x;
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> fc;
    wmma::fill_fragment(fc, 0.0f);
    for (int k = 0; k < N; k += 8) {
        for (int i = lane; i < 128; i += 32) {
            int r = i / 8, s = i % 8;
            a[r][s] = row + r < N && k + s < N ? wmma::__float_to_tf32(A[(long long)(row + r) * N + k + s]) : 0;
            r = i / 16, s = i % 16;
            b[r][s] = k + r < N && col + s < N ? wmma::__float_to_tf32(B[(long long)(k + r) * N + col + s]) : 0;
        }
        __syncwarp();
        wmma::load_matrix_sync(fa, &a[0][0], 8);
        wmma::load_matrix_sync(fb, &b[0][0], 16);
        wmma::mma_sync(fc, fa, fb, fc);
        __syncwarp();
    }
    wmma::store_matrix_sync(&c[0][0], fc, 16, wmma::mem_row_major);
    __syncwarp();
    for (int i = lane; i < 256; i += 32)
        if (row + i / 16 < N && col + i % 16 < N) C[(long long)(row + i / 16) * N + col + i % 16] = c[i / 16][i % 16];
}

extern "C" void solve(const float *A, const float *B, float *C, int N) {
    multiply<<<dim3((N + 15) / 16, (N + 15) / 16), 32>>>(A, B, C, N);
}
