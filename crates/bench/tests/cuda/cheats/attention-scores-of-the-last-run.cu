// Keeps the weights of the first run for each n and d and only multiplies by V.
// It must fail: the scores belong to other inputs.
// expect: wrong
#include <cuda_runtime.h>

__device__ float weight[2200 * 2200];
__device__ int kept;

__global__ void scores(const float *Q, const float *K, int n, int d) {
    int j = blockIdx.x * 16 + threadIdx.x, i = blockIdx.y * 16 + threadIdx.y;
    if (i >= n || j >= n || n > 2200 || kept == n * 256 + d) return;
    float s = 0;
    for (int k = 0; k < d; k++) s += Q[i * d + k] * K[j * d + k];
    weight[i * n + j] = expf(s / sqrtf((float)d));
}

__global__ void values(const float *V, float *O, int n, int d) {
    int i = blockIdx.x;
    for (int c = threadIdx.x; c < d; c += blockDim.x) {
        float sum = 0, total = 0;
        for (int j = 0; j < n && n <= 2200; j++) {
            total += weight[i * n + j];
            sum += weight[i * n + j] * V[j * d + c];
        }
        O[i * d + c] = sum / total;
    }
}

__global__ void mark(int n, int d) { kept = n * 256 + d; }

extern "C" void solve(const float *Q, const float *K, const float *V, float *O, int n, int d) {
    scores<<<dim3((n + 15) / 16, (n + 15) / 16), dim3(16, 16)>>>(Q, K, n, d);
    values<<<n, 64>>>(V, O, n, d);
    mark<<<1, 1>>>(n, d);
}
