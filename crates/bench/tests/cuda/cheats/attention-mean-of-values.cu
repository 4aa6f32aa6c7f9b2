// Answers the mean of V: the weights of small random scores are nearly equal.
// It must fail: nearly is far from a rounding.
// expect: wrong
#include <cuda_runtime.h>

__global__ void mean(const float *V, float *O, int n, int d) {
    int c = blockIdx.x;
    float sum = 0;
    for (int j = 0; j < n; j++) sum += V[j * d + c];
    for (int i = threadIdx.x; i < n; i += blockDim.x) O[i * d + c] = sum / n;
}

extern "C" void solve(const float *Q, const float *K, const float *V, float *O, int n, int d) {
    mean<<<d, 256>>>(V, O, n, d);
}
