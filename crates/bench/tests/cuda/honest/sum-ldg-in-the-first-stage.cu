// Loads by the read-only cache and past L1: NVIDIA's headers write these functions in assembly, and no stage forbids
// them.
// stage: coalescing
#include <cuda_runtime.h>

__global__ void sum_fast(const float *x, float *y, int B, int D1, int D2) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= B * D2) return;
    const float *from = x + (long long)(t / D2) * D1 * D2 + t % D2;
    float sum = 0.0f;
    for (int i = 0; i + 1 < D1; i += 2) {
        sum += __ldg(from + (long long)i * D2);
        sum += __ldcs(from + (long long)(i + 1) * D2);
    }
    if (D1 % 2) sum += __ldcg(from + (long long)(D1 - 1) * D2);
    __stcs(y + t, sum);
}

extern "C" void solve(const float *x, float *y, int B, int D1, int D2) {
    int total = B * D2;
    if (total > 0) sum_fast<<<(total + 255) / 256, 256>>>(x, y, B, D1, D2);
}
