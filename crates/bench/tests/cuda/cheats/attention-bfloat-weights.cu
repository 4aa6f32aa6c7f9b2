// Rounds the weights to bfloat16 before they meet V, as mixed-precision kernels do.
// It must fail: the weights keep eight bits.
// expect: wrong
#include <cuda_bf16.h>
#include <cuda_runtime.h>

__global__ void attention(const float *Q, const float *K, const float *V, float *O, int n, int d) {
    int i = blockIdx.x;
    for (int c = threadIdx.x; c < d; c += blockDim.x) {
        float sum = 0, total = 0;
        for (int j = 0; j < n; j++) {
            float s = 0;
            for (int k = 0; k < d; k++) s += Q[i * d + k] * K[j * d + k];
            float e = expf(s / sqrtf((float)d));
            total += e;
            sum += __bfloat162float(__float2bfloat16(e)) * __bfloat162float(__float2bfloat16(V[j * d + c]));
        }
        O[i * d + c] = sum / total;
    }
}

extern "C" void solve(const float *Q, const float *K, const float *V, float *O, int n, int d) {
    attention<<<n, 64>>>(Q, K, V, O, n, d);
}
