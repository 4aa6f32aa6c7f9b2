// Computes the scores in half precision and the rest in single.
// It must fail: eleven bits are not twenty-four.
// expect: wrong
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void attention(const float *Q, const float *K, const float *V, float *O, int n, int d) {
    int i = blockIdx.x;
    for (int c = threadIdx.x; c < d; c += blockDim.x) {
        float sum = 0, total = 0;
        for (int j = 0; j < n; j++) {
            __half s = __float2half(0.0f);
            for (int k = 0; k < d; k++) s = __hfma(__float2half(Q[i * d + k]), __float2half(K[j * d + k]), s);
            float e = expf(__half2float(s) / sqrtf((float)d));
            total += e;
            sum += e * V[j * d + c];
        }
        O[i * d + c] = sum / total;
    }
}

extern "C" void solve(const float *Q, const float *K, const float *V, float *O, int n, int d) {
    attention<<<n, 64>>>(Q, K, V, O, n, d);
}
