// One thread a query with everything in registers; d is rounded up to a template argument by a chain of ifs.
#include <cuda_runtime.h>

#define QUERIES 32
#define KEYS 16

template <int D>
__global__ void __launch_bounds__(QUERIES) attention_fast(const float *__restrict__ Q, const float *__restrict__ K, const float *__restrict__ V, float *__restrict__ O, int n, int d) {
    __shared__ __align__(16) float keys[KEYS][D], values[KEYS][D];
    const int query = blockIdx.x * QUERIES + threadIdx.x;
    const float factor = rsqrtf((float)d);
    float q[D], result[D], largest = -1e30f, total = 0.0f;
#pragma unroll
    for (int c = 0; c < D; c++) {
        q[c] = query < n && c < d ? Q[(size_t)query * d + c] * factor : 0.0f;
        result[c] = 0.0f;
    }
    for (int first = 0; first < n; first += KEYS) {
        __syncthreads();
        for (int e = threadIdx.x; e < KEYS * D; e += QUERIES) {
            const int row = first + e / D, column = e % D;
            const bool inside = row < n && column < d;
            keys[e / D][column] = inside ? K[(size_t)row * d + column] : 0.0f;
            values[e / D][column] = inside ? V[(size_t)row * d + column] : 0.0f;
        }
        __syncthreads();
        const int some = min(KEYS, n - first);
        for (int k = 0; k < some; k++) {
            float score = 0.0f;
#pragma unroll
            for (int c = 0; c < D; c += 4) {
                const float4 four = *reinterpret_cast<const float4 *>(&keys[k][c]);
                score += q[c] * four.x + q[c + 1] * four.y + q[c + 2] * four.z + q[c + 3] * four.w;
            }
            if (score > largest) {
                const float shrink = __expf(largest - score);
                total *= shrink;
#pragma unroll
                for (int c = 0; c < D; c++) result[c] *= shrink;
                largest = score;
            }
            const float weight = __expf(score - largest);
            total += weight;
#pragma unroll
            for (int c = 0; c < D; c++) result[c] = fmaf(weight, values[k][c], result[c]);
        }
    }
    if (query >= n) return;
    const float inverse = 1.0f / total;
#pragma unroll
    for (int c = 0; c < D; c++) {
        if (c < d) O[(size_t)query * d + c] = result[c] * inverse;
    }
}

extern "C" void solve(const float *Q, const float *K, const float *V, float *O, int n, int d) {
    const int blocks = (n + QUERIES - 1) / QUERIES;
    if (d <= 16)
        attention_fast<16><<<blocks, QUERIES>>>(Q, K, V, O, n, d);
    else if (d <= 32)
        attention_fast<32><<<blocks, QUERIES>>>(Q, K, V, O, n, d);
    else if (d <= 64)
        attention_fast<64><<<blocks, QUERIES>>>(Q, K, V, O, n, d);
    else
        attention_fast<128><<<blocks, QUERIES>>>(Q, K, V, O, n, d);
}
