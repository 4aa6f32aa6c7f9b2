// Keys are split over blocks; each part leaves its sums in scratch memory, and a second kernel joins them.
#include <cuda_runtime.h>

namespace attention {

constexpr int kSplits = 8, kWarps = 4, kColumns = 4;

struct Part {
    float largest, total;
};

__global__ void partial(const float *Q, const float *K, const float *V, Part *parts, float *results, int n, int d) {
    const int query = blockIdx.x * kWarps + threadIdx.x / 32, lane = threadIdx.x % 32, split = blockIdx.y;
    if (query >= n) return;
    const int length = (n + kSplits - 1) / kSplits, first = split * length, last = min(first + length, n);
    const float factor = rsqrtf(float(d));
    Part part = {-1e30f, 0.0f};
    float q[kColumns], result[kColumns] = {};
    for (int c = 0; c < kColumns; c++) q[c] = c * 32 + lane < d ? Q[size_t(query) * d + c * 32 + lane] * factor : 0.0f;
    for (int key = first; key < last; key++) {
        float score = 0.0f;
        for (int c = 0; c < kColumns; c++) {
            if (c * 32 + lane < d) score += q[c] * K[size_t(key) * d + c * 32 + lane];
        }
        for (int step = 1; step < 32; step *= 2) score += __shfl_xor_sync(0xffffffffu, score, step);
        if (score > part.largest) {  // the same in all lanes
            const float shrink = expf(part.largest - score);
            part.total *= shrink;
            for (float &r : result) r *= shrink;
            part.largest = score;
        }
        const float weight = expf(score - part.largest);
        part.total += weight;
        for (int c = 0; c < kColumns; c++) {
            if (c * 32 + lane < d) result[c] += weight * V[size_t(key) * d + c * 32 + lane];
        }
    }
    const size_t at = size_t(split) * n + query;
    if (lane == 0) parts[at] = part;
    for (int c = 0; c < kColumns; c++) {
        if (c * 32 + lane < d) results[at * d + c * 32 + lane] = result[c];
    }
}

__global__ void join(const Part *parts, const float *results, float *O, int n, int d) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n * d) return;
    const int query = t / d;
    float largest = -1e30f;
    for (int s = 0; s < kSplits; s++) largest = fmaxf(largest, parts[size_t(s) * n + query].largest);
    float total = 0.0f, result = 0.0f;
    for (int s = 0; s < kSplits; s++) {
        const Part part = parts[size_t(s) * n + query];
        const float factor = expf(part.largest - largest);  // 0 for a part without keys
        total += part.total * factor;
        result += results[size_t(s) * n * d + t] * factor;
    }
    O[t] = result / total;
}

}  // namespace attention

extern "C" void solve(const float *Q, const float *K, const float *V, float *O, int n, int d) {
    using namespace attention;
    Part *parts;
    float *results;
    cudaMalloc(&parts, sizeof(Part) * kSplits * n);
    cudaMalloc(&results, sizeof(float) * kSplits * n * d);
    partial<<<dim3((n + kWarps - 1) / kWarps, kSplits), kWarps * 32>>>(Q, K, V, parts, results, n, d);
    attention::join<<<(n * d + 255) / 256, 256>>>(parts, results, O, n, d);
    cudaFree(results);
    cudaFree(parts);
}
