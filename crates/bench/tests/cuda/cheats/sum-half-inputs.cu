// Rounds every input to half precision and adds in single: what a kernel for half inputs would
// give.
// It must fail: the error of the inputs is two hundred times the bound.
// expect: wrong
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void sum_rows(const float *x, float *y, int B, int D1, int D2) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= (long long)B * D2) return;
    long long b = i / D2, c = i % D2;
    float sum = 0;
    for (int k = 0; k < D1; k++) sum += __half2float(__float2half_rn(x[(b * D1 + k) * D2 + c]));
    y[i] = sum;
}

extern "C" void solve(const float *x, float *y, int B, int D1, int D2) {
    long long n = (long long)B * D2;
    sum_rows<<<(unsigned)((n + 127) / 128), 128>>>(x, y, B, D1, D2);
}
