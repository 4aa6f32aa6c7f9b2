// One warp a query: scores by shuffles, and the result is rescaled whenever the maximum grows.
#include <cuda_runtime.h>

#define WARPS 4
#define PARTS 4  // of 32 columns: d is at most 128

__global__ void __launch_bounds__(WARPS * 32) attention_fast(const float *Q, const float *K, const float *V, float *O, int n, int d) {
    const int query = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (query >= n) return;
    float q[PARTS], result[PARTS] = {}, largest = -1e30f, total = 0.0f;
    const float factor = rsqrtf((float)d);
#pragma unroll
    for (int p = 0; p < PARTS; p++) q[p] = p * 32 + lane < d ? Q[(long long)query * d + p * 32 + lane] * factor : 0.0f;
    for (int key = 0; key < n; key++) {
        float score = 0.0f;
#pragma unroll
        for (int p = 0; p < PARTS; p++) {
            if (p * 32 + lane < d) score += q[p] * K[(long long)key * d + p * 32 + lane];
        }
#pragma unroll
        for (int step = 16; step > 0; step /= 2) score += __shfl_xor_sync(0xffffffffu, score, step);
        const float larger = fmaxf(largest, score), shrink = __expf(largest - larger), weight = __expf(score - larger);
        total = total * shrink + weight;
#pragma unroll
        for (int p = 0; p < PARTS; p++) {
            const float value = p * 32 + lane < d ? V[(long long)key * d + p * 32 + lane] : 0.0f;
            result[p] = result[p] * shrink + weight * value;
        }
        largest = larger;
    }
#pragma unroll
    for (int p = 0; p < PARTS; p++) {
        if (p * 32 + lane < d) O[(long long)query * d + p * 32 + lane] = result[p] / total;
    }
}

extern "C" void solve(const float *Q, const float *K, const float *V, float *O, int n, int d) {
    attention_fast<<<(n + WARPS - 1) / WARPS, WARPS * 32>>>(Q, K, V, O, n, d);
}
