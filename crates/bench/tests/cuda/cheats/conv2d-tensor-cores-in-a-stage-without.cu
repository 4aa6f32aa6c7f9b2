// Multiplies patches by filters on tensor cores in TF32, where the stage forbids tensor cores.
// It must fail: the PTX shows it; without the stage it would be wrong.
// expect: refused, wrong
// stage: register-blocking
#include <cuda_runtime.h>
#include <mma.h>
using namespace nvcuda::wmma;

__global__ void conv(const float *x, const float *w, float *y, int C, int H, int W, int O) {
    __shared__ float a[16 * 8], b[8 * 16], c[16 * 16];
    int OH = H - 2, OW = W - 2, terms = C * 9;
    long long pixel = blockIdx.x * 16ll, image = blockIdx.z, all = (long long)OH * OW;
    int first = blockIdx.y * 16;
    fragment<matrix_a, 16, 16, 8, precision::tf32, row_major> fa;
    fragment<matrix_b, 16, 16, 8, precision::tf32, row_major> fb;
    fragment<accumulator, 16, 16, 8, float> fc;
    fill_fragment(fc, 0.0f);
    for (int k = 0; k < terms; k += 8) {
        for (int i = threadIdx.x; i < 128; i += 32) {
            int o = first + i / 8, t = k + i % 8;
            a[i] = o < O && t < terms ? __float_to_tf32(w[o * terms + t]) : 0;
            long long p = pixel + i % 16;
            t = k + i / 16;
            b[i] = p < all && t < terms
                       ? __float_to_tf32(x[((image * C + t / 9) * H + p / OW + t % 9 / 3) * W + p % OW + t % 3])
                       : 0;
        }
        __syncwarp();
        load_matrix_sync(fa, a, 8);
        load_matrix_sync(fb, b, 16);
        mma_sync(fc, fa, fb, fc);
        __syncwarp();
    }
    store_matrix_sync(c, fc, 16, mem_row_major);
    __syncwarp();
    for (int i = threadIdx.x; i < 256; i += 32)
        if (first + i / 16 < O && pixel + i % 16 < all) y[(image * O + first + i / 16) * all + pixel + i % 16] = c[i];
}

extern "C" void solve(const float *x, const float *w, float *y, int N, int C, int H, int W, int O) {
    conv<<<dim3((unsigned)(((long long)(H - 2) * (W - 2) + 15) / 16), (O + 15) / 16, N), 32>>>(x, w, y, C, H, W, O);
}
