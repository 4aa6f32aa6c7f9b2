#include <cuda_runtime.h>

__global__ void sum_kernel(const float* x, float* y, int B, int D1, int D2) {
    long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (t < (long long)B * D2) {
        long long b = t / D2, j = t % D2;
        float sum = 0.0f;
        for (int i = 0; i < D1; i++) {
            sum += x[(b * D1 + i) * D2 + j];
        }
        y[t] = sum;
    }
}

extern "C" void solve(const float* x, float* y, int B, int D1, int D2) {
    int threads = 256;
    long long outputs = (long long)B * D2;
    int blocks = (int)((outputs + threads - 1) / threads);
    sum_kernel<<<blocks, threads>>>(x, y, B, D1, D2);
}
