// A warp transposes 32 x 32 in registers by five rounds of shuffles; no shared memory at all.
#include <cuda_runtime.h>

__global__ void __launch_bounds__(128) transpose_fast(const float *x, float *y, int rows, int cols, long long tiles) {
    const long long tile = (long long)blockIdx.x * 4 + threadIdx.x / 32;
    if (tile >= tiles) return;
    const int lane = threadIdx.x % 32, across = (cols + 31) / 32;
    const int top = (int)(tile / across) * 32, left = (int)(tile % across) * 32;
    float v[32];
#pragma unroll
    for (int i = 0; i < 32; i++) v[i] = top + i < rows && left + lane < cols ? x[(long long)(top + i) * cols + left + lane] : 0.0f;
#pragma unroll
    for (int bit = 16; bit > 0; bit >>= 1) {
        const bool upper = lane & bit;
#pragma unroll
        for (int i = 0; i < 32; i++) {
            if (i & bit) continue;
            const float sent = upper ? v[i] : v[i | bit];
            const float received = __shfl_xor_sync(0xffffffffu, sent, bit);
            if (upper)
                v[i] = received;
            else
                v[i | bit] = received;
        }
    }
#pragma unroll
    for (int j = 0; j < 32; j++) {
        if (left + j < cols && top + lane < rows) y[(long long)(left + j) * rows + top + lane] = v[j];
    }
}

extern "C" void solve(const float *x, float *y, int rows, int cols) {
    const long long tiles = (long long)((rows + 31) / 32) * ((cols + 31) / 32);
    transpose_fast<<<(unsigned)((tiles + 3) / 4), 128>>>(x, y, rows, cols, tiles);
}
