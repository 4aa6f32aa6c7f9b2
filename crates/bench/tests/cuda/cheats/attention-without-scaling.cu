// Leaves out the division by the root of d.
// It must fail: the weights differ.
// expect: wrong
#include <cuda_runtime.h>

__global__ void attention(const float *Q, const float *K, const float *V, float *O, int n, int d) {
    int i = blockIdx.x, c = threadIdx.x;
    for (; c < d; c += blockDim.x) {
        float sum = 0, total = 0;
        for (int j = 0; j < n; j++) {
            float s = 0;
            for (int k = 0; k < d; k++) s += Q[i * d + k] * K[j * d + k];
            float e = expf(s);
            total += e;
            sum += e * V[j * d + c];
        }
        O[i * d + c] = sum / total;
    }
}

extern "C" void solve(const float *Q, const float *K, const float *V, float *O, int n, int d) {
    attention<<<n, 64>>>(Q, K, V, O, n, d);
}
