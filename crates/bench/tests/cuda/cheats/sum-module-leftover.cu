// Never writes its device buffer and hopes that an earlier candidate's module left the sums there.
// It must fail: a module's variables start as zeros.
// expect: wrong
#include <cuda_runtime.h>

__device__ float leftover[1 << 22];

__global__ void give(float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = leftover[i % (1 << 22)];
}

extern "C" void solve(const float *x, float *y, int B, int D1, int D2) {
    give<<<(B * D2 + 127) / 128, 128>>>(y, B * D2);
}
