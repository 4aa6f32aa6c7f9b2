// Rounds both products and sums to bfloat16.
// It must fail: eight bits are not twenty-four.
// expect: wrong
#include <cuda_bf16.h>
#include <cuda_runtime.h>

__global__ void saxpy(float a, const float *x, const float *y, float *z, long long n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= n) return;
    __nv_bfloat16 r = __hfma(__float2bfloat16(a), __float2bfloat16(x[i]), __float2bfloat16(y[i]));
    z[i] = __bfloat162float(r);
}

extern "C" void solve(float a, const float *x, const float *y, float *z, int n) {
    saxpy<<<(unsigned)((n + 255) / 256), 256>>>(a, x, y, z, n);
}
