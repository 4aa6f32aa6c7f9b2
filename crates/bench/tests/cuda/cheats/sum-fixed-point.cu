// Adds integers in steps of 1/256, which are exact and may be added in any order.
// It must fail: the steps are coarse.
// expect: wrong
#include <cuda_runtime.h>

__global__ void sum_rows(const float *x, float *y, int B, int D1, int D2) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= (long long)B * D2) return;
    long long b = i / D2, c = i % D2;
    int sum = 0;
    for (int k = 0; k < D1; k++) sum += __float2int_rn(x[(b * D1 + k) * D2 + c] * 256);
    y[i] = sum / 256.0f;
}

extern "C" void solve(const float *x, float *y, int B, int D1, int D2) {
    long long n = (long long)B * D2;
    sum_rows<<<(unsigned)((n + 127) / 128), 128>>>(x, y, B, D1, D2);
}
