// A device function is a template argument.
#include <cuda_runtime.h>

__device__ __forceinline__ float relu_op(float v) { return fmaxf(v, 0.0f); }

template <float (*Op)(float)>
__global__ void map(const float *__restrict__ x, float *__restrict__ y, long long n) {
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = Op(x[i]);
}

extern "C" void solve(const float *x, float *y, long long n) {
    map<relu_op><<<(n + 255) / 256, 256>>>(x, y, n);
}
