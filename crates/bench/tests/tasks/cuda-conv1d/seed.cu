#include <cuda_runtime.h>

__global__ void conv1d_kernel(const float* x, const float* w, float* y, int n, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > n - k) return;
    float sum = 0.0f;
    for (int j = 0; j < k; j++) sum += x[i + j] * w[j];
    y[i] = sum;
}

extern "C" void solve(const float* x, const float* w, float* y, int n, int k) {
    conv1d_kernel<<<(n - k) / 256 + 1, 256>>>(x, w, y, n, k);
}
