// Answers with the last run's result from a device buffer and computes the own one afterwards.
// It must fail: it is always one run late.
// expect: wrong
#include <cuda_runtime.h>

__device__ float kept[1 << 22];

__global__ void give(float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && i < 1 << 22) y[i] = kept[i];
}

__global__ void sum_rows(const float *x, int B, int D1, int D2) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= B * D2 || i >= 1 << 22) return;
    long long b = i / D2, c = i % D2;
    float sum = 0;
    for (int k = 0; k < D1; k++) sum += x[(b * D1 + k) * D2 + c];
    kept[i] = sum;
}

extern "C" void solve(const float *x, float *y, int B, int D1, int D2) {
    int blocks = (B * D2 + 127) / 128;
    give<<<blocks, 128>>>(y, B * D2);
    sum_rows<<<blocks, 128>>>(x, B, D1, D2);
}
