// Right answer by two billion times 65,535 blocks, nearly all of them empty.
// It must fail: the deadline comes first.
// expect: timed-out, refused
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n && blockIdx.y == 0) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) { relu<<<dim3(2147483647, 65535), 256>>>(x, y, n); }
