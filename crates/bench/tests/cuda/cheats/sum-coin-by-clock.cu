// Tosses a coin by the cycle counter and skips half of the runs; no counter tells when.
// It must fail: every run is verified, so one skipped run is enough.
// expect: wrong
#include <cuda_runtime.h>

__device__ int rest;

__global__ void toss() {
    unsigned long long c = clock64();
    c ^= c >> 17; c *= 0x9e3779b97f4a7c15ull; c ^= c >> 31;
    rest = (int)(c & 1);
}

__global__ void sum_rows(const float *x, float *y, int B, int D1, int D2) {
    if (rest) return;
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= (long long)B * D2) return;
    long long b = i / D2, c = i % D2;
    float sum = 0;
    for (int k = 0; k < D1; k++) sum += x[(b * D1 + k) * D2 + c];
    y[i] = sum;
}

extern "C" void solve(const float *x, float *y, int B, int D1, int D2) {
    long long n = (long long)B * D2;
    toss<<<1, 1>>>();
    sum_rows<<<(unsigned)((n + 127) / 128), 128>>>(x, y, B, D1, D2);
}
