// Adds pairs in half2: two sums an instruction.
// It must fail: eleven bits are not twenty-four.
// expect: wrong
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void sum_rows(const float *x, float *y, int B, int D1, int D2) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= (long long)B * D2) return;
    long long b = i / D2, c = i % D2;
    __half2 sum = __float2half2_rn(0.0f);
    int k = 0;
    for (; k + 1 < D1; k += 2)
        sum = __hadd2(sum, __floats2half2_rn(x[(b * D1 + k) * D2 + c], x[(b * D1 + k + 1) * D2 + c]));
    float last = k < D1 ? __half2float(__float2half(x[(b * D1 + k) * D2 + c])) : 0;
    y[i] = __low2float(sum) + __high2float(sum) + last;
}

extern "C" void solve(const float *x, float *y, int B, int D1, int D2) {
    long long n = (long long)B * D2;
    sum_rows<<<(unsigned)((n + 127) / 128), 128>>>(x, y, B, D1, D2);
}
