// Several blocks add their parts to one output without atomics.
// It must fail: parts get lost.
// expect: wrong
#include <cuda_runtime.h>

__global__ void sum_rows(const float *x, float *y, int B, int D1, int D2) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= (long long)B * D2) return;
    long long b = i / D2, c = i % D2;
    float sum = 0;
    for (int k = blockIdx.y; k < D1; k += gridDim.y) sum += x[(b * D1 + k) * D2 + c];
    y[i] += sum;
}

extern "C" void solve(const float *x, float *y, int B, int D1, int D2) {
    long long n = (long long)B * D2;
    cudaMemset(y, 0, n * sizeof(float));
    sum_rows<<<dim3((unsigned)((n + 127) / 128), 16), 128>>>(x, y, B, D1, D2);
}
