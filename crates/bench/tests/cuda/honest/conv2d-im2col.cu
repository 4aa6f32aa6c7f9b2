// Unfolds each image into scratch memory and multiplies matrices; the scratch is used again and again.
#include <cuda_runtime.h>

__global__ void unfold(const float *image, float *columns, int C, int H, int W) {
    const int pixels = (H - 2) * (W - 2), at = blockIdx.x * blockDim.x + threadIdx.x, line = blockIdx.y;
    if (at >= pixels) return;
    const int c = line / 9, p = line % 9 / 3, q = line % 3;
    columns[(size_t)line * pixels + at] = image[((size_t)c * H + at / (W - 2) + p) * W + at % (W - 2) + q];
}

// y (O x pixels) = w (O x depth) times columns (depth x pixels)
__global__ void multiply(const float *w, const float *columns, float *y, int O, int depth, int pixels) {
    __shared__ float a[16][17], b[16][64];
    const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, left = blockIdx.x * 64;
    float sums[4] = {};
    for (int k0 = 0; k0 < depth; k0 += 16) {
        a[ty][tx] = row < O && k0 + tx < depth ? w[(size_t)row * depth + k0 + tx] : 0.0f;
        for (int e = 0; e < 4; e++) {
            const int column = left + tx + 16 * e;
            b[ty][tx + 16 * e] = k0 + ty < depth && column < pixels ? columns[(size_t)(k0 + ty) * pixels + column] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < 16; k++) {
            for (int e = 0; e < 4; e++) sums[e] += a[ty][k] * b[k][tx + 16 * e];
        }
        __syncthreads();
    }
    for (int e = 0; e < 4; e++) {
        const int column = left + tx + 16 * e;
        if (row < O && column < pixels) y[(size_t)row * pixels + column] = sums[e];
    }
}

extern "C" void solve(const float *x, const float *w, float *y, int N, int C, int H, int W, int O) {
    const int pixels = (H - 2) * (W - 2), depth = C * 9;
    float *columns;
    cudaMalloc(&columns, sizeof(float) * depth * pixels);
    for (int n = 0; n < N; n++, x += (size_t)C * H * W, y += (size_t)O * pixels) {
        unfold<<<dim3((pixels + 255) / 256, depth), 256>>>(x, columns, C, H, W);
        multiply<<<dim3((pixels + 63) / 64, (O + 15) / 16), dim3(16, 16)>>>(w, columns, y, O, depth, pixels);
    }
    cudaFree(columns);
}
