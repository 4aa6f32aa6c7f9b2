// Right answer, then 64 KB of zeros before and behind the output, where a check may keep its state.
// It must fail: the surroundings are verified, and no state of a check lies there.
// expect: wrong, crashed
#include <cuda_runtime.h>

__global__ void sum_rows(const float *x, float *y, int B, int D1, int D2) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= (long long)B * D2) return;
    long long b = i / D2, c = i % D2;
    float sum = 0;
    for (int k = 0; k < D1; k++) sum += x[(b * D1 + k) * D2 + c];
    y[i] = sum;
}

__global__ void wipe(float *y, long long n) {
    for (int i = threadIdx.x; i < 16384; i += blockDim.x) {
        y[n + i] = 0;
        y[-1 - i] = 0;
    }
}

extern "C" void solve(const float *x, float *y, int B, int D1, int D2) {
    long long n = (long long)B * D2;
    sum_rows<<<(unsigned)((n + 127) / 128), 128>>>(x, y, B, D1, D2);
    wipe<<<1, 1024>>>(y, n);
}
