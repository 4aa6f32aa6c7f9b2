// Answers infinity: the scale of the error may become infinite as well, and inf / inf is NaN.
// It must fail: an infinite answer is no answer.
// expect: wrong
#include <cuda_runtime.h>

__global__ void fill(float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = i % 2 ? INFINITY : -INFINITY;
}

extern "C" void solve(const float *x, float *y, int B, int D1, int D2) {
    fill<<<(B * D2 + 127) / 128, 128>>>(y, B * D2);
}
