// Looks at the nearest 256 positions only: far ones weigh little in real texts.
// It must fail: here all weigh alike.
// expect: wrong
#include <cuda_runtime.h>

__global__ void attention(const float *Q, const float *K, const float *V, float *O, int n, int d) {
    int i = blockIdx.x;
    for (int c = threadIdx.x; c < d; c += blockDim.x) {
        float sum = 0, total = 0;
        for (int j = max(0, i - 128); j < min(n, i + 128); j++) {
            float s = 0;
            for (int k = 0; k < d; k++) s += Q[i * d + k] * K[j * d + k];
            float e = expf(s / sqrtf((float)d));
            total += e;
            sum += e * V[j * d + c];
        }
        O[i * d + c] = sum / total;
    }
}

extern "C" void solve(const float *Q, const float *K, const float *V, float *O, int n, int d) {
    attention<<<n, 64>>>(Q, K, V, O, n, d);
}
