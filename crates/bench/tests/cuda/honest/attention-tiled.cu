// Tiles of 32 queries and 32 keys in 50 KB of dynamic shared memory; eight threads share a query.
#include <cuda_runtime.h>

#define TILE 32
#define MOST 128         // columns
#define PITCH (MOST + 1)
#define SHARE 8          // threads a query
#define OWN (MOST / SHARE)

struct Shared {
    float q[TILE][PITCH], k[TILE][PITCH], v[TILE][PITCH], weights[TILE][TILE + 1];
};

__device__ void load(float (&to)[TILE][PITCH], const float *from, int first, int n, int d) {
    for (int e = threadIdx.x; e < TILE * d; e += TILE * SHARE) {
        const int row = e / d, column = e % d;
        to[row][column] = first + row < n ? from[(size_t)(first + row) * d + column] : 0.0f;
    }
}

template <class Combine>
__device__ float over_share(float v, Combine combine) {
    for (int step = SHARE / 2; step > 0; step >>= 1) v = combine(v, __shfl_xor_sync(0xffffffffu, v, step, SHARE));
    return v;
}

__global__ void __launch_bounds__(TILE * SHARE) attention_fast(const float *Q, const float *K, const float *V, float *O, int n, int d) {
    extern __shared__ __align__(16) unsigned char memory[];
    Shared &s = *reinterpret_cast<Shared *>(memory);
    const int row = threadIdx.x / SHARE, part = threadIdx.x % SHARE, query = blockIdx.x * TILE + row;
    const float factor = 1.0f / sqrtf((float)d);
    float result[OWN], largest = -1e30f, total = 0.0f;
#pragma unroll
    for (int c = 0; c < OWN; c++) result[c] = 0.0f;
    load(s.q, Q, blockIdx.x * TILE, n, d);
    for (int first = 0; first < n; first += TILE) {
        __syncthreads();
        load(s.k, K, first, n, d);
        load(s.v, V, first, n, d);
        __syncthreads();
        float scores[TILE / SHARE], tile_largest = -1e30f;
#pragma unroll
        for (int k = 0; k < TILE / SHARE; k++) {
            const int key = part + k * SHARE;
            float score = 0.0f;
            for (int c = 0; c < d; c++) score += s.q[row][c] * s.k[key][c];
            scores[k] = first + key < n ? score * factor : -1e30f;
            tile_largest = fmaxf(tile_largest, scores[k]);
        }
        tile_largest = over_share(tile_largest, [](float a, float b) { return fmaxf(a, b); });
        const float larger = fmaxf(largest, tile_largest), shrink = __expf(largest - larger);
        float sum = 0.0f;
#pragma unroll
        for (int k = 0; k < TILE / SHARE; k++) {
            const float weight = __expf(scores[k] - larger);
            s.weights[row][part + k * SHARE] = weight;
            sum += weight;
        }
        total = total * shrink + over_share(sum, [](float a, float b) { return a + b; });
        largest = larger;
        __syncwarp();  // the threads of a query are in one warp
#pragma unroll
        for (int c = 0; c < OWN; c++) {
            if (part + c * SHARE < d) {
                float sum = result[c] * shrink;
                for (int key = 0; key < TILE; key++) sum += s.weights[row][key] * s.v[key][part + c * SHARE];
                result[c] = sum;
            }
        }
    }
    if (query >= n) return;
#pragma unroll
    for (int c = 0; c < OWN; c++) {
        if (part + c * SHARE < d) O[(size_t)query * d + part + c * SHARE] = result[c] / total;
    }
}

extern "C" void solve(const float *Q, const float *K, const float *V, float *O, int n, int d) {
    cudaFuncSetAttribute(attention_fast, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Shared));
    attention_fast<<<(n + TILE - 1) / TILE, TILE * SHARE, sizeof(Shared)>>>(Q, K, V, O, n, d);
}
