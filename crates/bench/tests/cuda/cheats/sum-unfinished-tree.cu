// Adds in a tree over shared memory with one barrier too few and stops at the last warp.
// It must fail: thirty-one of thirty-two partial sums are left out.
// expect: wrong
#include <cuda_runtime.h>

__global__ void sum_rows(const float *x, float *y, int D1, int D2) {
    __shared__ float s[256];
    long long b = blockIdx.y, c = blockIdx.x;
    float sum = 0;
    for (int k = threadIdx.x; k < D1; k += 256) sum += x[(b * D1 + k) * D2 + c];
    s[threadIdx.x] = sum;
    __syncthreads();
    for (int d = 128; d >= 32; d /= 2) {
        if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0) y[b * D2 + c] = s[0];
}

extern "C" void solve(const float *x, float *y, int B, int D1, int D2) {
    sum_rows<<<dim3(D2, B), 256>>>(x, y, D1, D2);
}
