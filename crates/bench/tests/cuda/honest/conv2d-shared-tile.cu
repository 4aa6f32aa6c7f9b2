// A tile of the image with its rim in shared memory; each thread has four output channels.
#include <cuda_runtime.h>

#define TILE 16
#define RIM (TILE + 2)
#define CHANNELS 4

__global__ void conv2d_fast(const float *x, const float *w, float *y, int C, int H, int W, int O) {
    __shared__ float image[RIM][RIM], weights[CHANNELS][9];
    const int OH = H - 2, OW = W - 2, groups = (O + CHANNELS - 1) / CHANNELS;
    const int n = blockIdx.z / groups, o0 = blockIdx.z % groups * CHANNELS;
    const int top = blockIdx.y * TILE, left = blockIdx.x * TILE, thread = threadIdx.y * TILE + threadIdx.x;
    float sums[CHANNELS] = {0.f, 0.f, 0.f, 0.f};
    for (int c = 0; c < C; c++) {
        const float *plane = x + ((size_t)n * C + c) * H * W;
        for (int e = thread; e < RIM * RIM; e += TILE * TILE) {
            const int i = top + e / RIM, j = left + e % RIM;
            image[e / RIM][e % RIM] = i < H && j < W ? plane[(size_t)i * W + j] : 0.f;
        }
        if (thread < CHANNELS * 9) {
            const int o = o0 + thread / 9;
            weights[thread / 9][thread % 9] = o < O ? w[((size_t)o * C + c) * 9 + thread % 9] : 0.f;
        }
        __syncthreads();
#pragma unroll
        for (int p = 0; p < 3; p++)
#pragma unroll
            for (int q = 0; q < 3; q++) {
                const float v = image[threadIdx.y + p][threadIdx.x + q];
#pragma unroll
                for (int k = 0; k < CHANNELS; k++) sums[k] += v * weights[k][p * 3 + q];
            }
        __syncthreads();
    }
    const int i = top + threadIdx.y, j = left + threadIdx.x;
    if (i >= OH || j >= OW) return;
    for (int k = 0; k < CHANNELS && o0 + k < O; k++) y[(((size_t)n * O + o0 + k) * OH + i) * OW + j] = sums[k];
}

extern "C" void solve(const float *x, const float *w, float *y, int N, int C, int H, int W, int O) {
    const dim3 block(TILE, TILE), grid((W - 2 + TILE - 1) / TILE, (H - 2 + TILE - 1) / TILE, N * ((O + CHANNELS - 1) / CHANNELS));
    conv2d_fast<<<grid, block>>>(x, w, y, C, H, W, O);
}
