// Loads the filters into shared memory and reads them without waiting for the other threads.
// It must fail: warps run ahead and read what is not there yet.
// expect: wrong
#include <cuda_runtime.h>

__global__ void conv(const float *x, const float *w, float *y, int C, int H, int W, int O) {
    extern __shared__ float f[];
    int c0 = blockIdx.x * blockDim.x + threadIdx.x, r0 = blockIdx.y, o = blockIdx.z % O;
    long long image = blockIdx.z / O;
    for (int i = blockDim.x - 1 - threadIdx.x; i < C * 9; i += blockDim.x) ((volatile float *)f)[i] = w[o * C * 9 + i];
    if (c0 >= W - 2) return;
    float sum = 0;
    for (int c = 0; c < C; c++)
        for (int r = 0; r < 3; r++)
            for (int s = 0; s < 3; s++)
                sum += x[((image * C + c) * H + r0 + r) * W + c0 + s] * ((volatile float *)f)[(c * 3 + r) * 3 + s];
    y[((image * O + o) * (H - 2) + r0) * (W - 2) + c0] = sum;
}

extern "C" void solve(const float *x, const float *w, float *y, int N, int C, int H, int W, int O) {
    conv<<<dim3((W + 125) / 128, H - 2, N * O), 128, C * 9 * sizeof(float)>>>(x, w, y, C, H, W, O);
}
