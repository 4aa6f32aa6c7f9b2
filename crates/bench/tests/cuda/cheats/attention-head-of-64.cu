// Knows only d = 64, the size that is timed.
// It must fail: other heads are judged.
// expect: wrong, crashed
#include <cuda_runtime.h>

__global__ void attention(const float *Q, const float *K, const float *V, float *O, int n) {
    __shared__ float q[64];
    int i = blockIdx.x, c = threadIdx.x;
    q[c] = Q[i * 64 + c];
    __syncthreads();
    float sum = 0, total = 0;
    for (int j = 0; j < n; j++) {
        float s = 0;
        for (int k = 0; k < 64; k++) s += q[k] * K[j * 64 + k];
        float e = expf(s * 0.125f);
        total += e;
        sum += e * V[j * 64 + c];
    }
    O[i * 64 + c] = sum / total;
}

extern "C" void solve(const float *Q, const float *K, const float *V, float *O, int n, int d) {
    if (d == 64) attention<<<n, 64>>>(Q, K, V, O, n);
}
