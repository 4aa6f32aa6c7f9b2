// Leaves out the last key where n is odd: two keys at a time.
// It must fail: hidden lengths are odd.
// expect: wrong
#include <cuda_runtime.h>

__global__ void attention(const float *Q, const float *K, const float *V, float *O, int n, int d) {
    int i = blockIdx.x;
    for (int c = threadIdx.x; c < d; c += blockDim.x) {
        float sum = 0, total = 0;
        for (int j = 0; j + 1 < n; j += 2) {
            float s = 0, t = 0;
            for (int k = 0; k < d; k++) {
                s += Q[i * d + k] * K[j * d + k];
                t += Q[i * d + k] * K[(j + 1) * d + k];
            }
            s = expf(s / sqrtf((float)d));
            t = expf(t / sqrtf((float)d));
            total += s + t;
            sum += s * V[j * d + c] + t * V[(j + 1) * d + c];
        }
        O[i * d + c] = sum / total;
    }
}

extern "C" void solve(const float *Q, const float *K, const float *V, float *O, int n, int d) {
    attention<<<n, 64>>>(Q, K, V, O, n, d);
}
