// Replaces exp(s) by 1 + s + s*s/2 for small scores.
// It must fail: scores are not that small.
// expect: wrong
#include <cuda_runtime.h>

__global__ void attention(const float *Q, const float *K, const float *V, float *O, int n, int d) {
    int i = blockIdx.x;
    for (int c = threadIdx.x; c < d; c += blockDim.x) {
        float sum = 0, total = 0;
        for (int j = 0; j < n; j++) {
            float s = 0;
            for (int k = 0; k < d; k++) s += Q[i * d + k] * K[j * d + k];
            s /= sqrtf((float)d);
            float e = 1 + s + 0.5f * s * s;
            total += e;
            sum += e * V[j * d + c];
        }
        O[i * d + c] = sum / total;
    }
}

extern "C" void solve(const float *Q, const float *K, const float *V, float *O, int n, int d) {
    attention<<<n, 64>>>(Q, K, V, O, n, d);
}
