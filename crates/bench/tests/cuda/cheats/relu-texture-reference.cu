// Reads through a texture reference of the old kind.
// It must fail: the toolkit no longer knows it.
// expect: not-compiled, refused
#include <cuda_runtime.h>

texture<float, 1, cudaReadModeElementType> source;

__global__ void relu(float *y, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) y[i] = fmaxf(tex1Dfetch(source, i), 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    cudaBindTexture(0, source, x, n * sizeof(float));
    relu<<<(unsigned)((n + 255) / 256), 256>>>(y, (int)n);
}
