// Every fourth run of the large size does nothing: the median falls a little, a spot check sees
// nothing.
// It must fail: all runs are verified, not a sample.
// expect: wrong
#include <cuda_runtime.h>

__device__ unsigned runs;

__global__ void sum_rows(const float *x, float *y, int B, int D1, int D2) {
    if (runs % 4 == 3) return;
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= (long long)B * D2) return;
    long long b = i / D2, c = i % D2;
    float sum = 0;
    for (int k = 0; k < D1; k++) sum += x[(b * D1 + k) * D2 + c];
    y[i] = sum;
}

__global__ void count() { runs++; }

extern "C" void solve(const float *x, float *y, int B, int D1, int D2) {
    long long n = (long long)B * D2;
    sum_rows<<<(unsigned)((n + 127) / 128), 128>>>(x, y, B, D1, D2);
    count<<<1, 1>>>();
}
