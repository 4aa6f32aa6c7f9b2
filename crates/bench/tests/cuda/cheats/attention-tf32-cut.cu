// Cuts thirteen bits off queries and keys, as tensor cores in TF32 do.
// It must fail: ten bits are not twenty-three.
// expect: wrong
#include <cuda_runtime.h>

__device__ float cut(float v) { return __uint_as_float(__float_as_uint(v) & 0xffffe000u); }

__global__ void attention(const float *Q, const float *K, const float *V, float *O, int n, int d) {
    int i = blockIdx.x;
    for (int c = threadIdx.x; c < d; c += blockDim.x) {
        float sum = 0, total = 0;
        for (int j = 0; j < n; j++) {
            float s = 0;
            for (int k = 0; k < d; k++) s += cut(Q[i * d + k]) * cut(K[j * d + k]);
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
