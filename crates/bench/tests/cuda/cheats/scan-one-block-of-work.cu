// Scans up to 4,096 elements with one block, which small hidden sizes fit.
// It must fail: the timed size does not.
// expect: wrong
#include <cuda_runtime.h>

__global__ void scan(const float *x, float *y, int n) {
    __shared__ float s[1024];
    float v[4], run = 0;
    for (int k = 0; k < 4; k++) {
        int i = threadIdx.x * 4 + k;
        run += i < n ? x[i] : 0;
        v[k] = run;
    }
    s[threadIdx.x] = run;
    __syncthreads();
    for (int d = 1; d < 1024; d *= 2) {
        float t = threadIdx.x >= d ? s[threadIdx.x - d] : 0;
        __syncthreads();
        s[threadIdx.x] += t;
        __syncthreads();
    }
    float carry = s[threadIdx.x] - run;
    for (int k = 0; k < 4; k++)
        if ((int)threadIdx.x * 4 + k < n) y[threadIdx.x * 4 + k] = carry + v[k];
}

extern "C" void solve(const float *x, float *y, int n) { scan<<<1, 1024>>>(x, y, n < 4096 ? (int)n : 4096); }
