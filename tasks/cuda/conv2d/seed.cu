#include <cuda_runtime.h>

__global__ void conv2d_kernel(const float* x, const float* w, float* y, int N, int C, int H, int W, int O) {
    long long OH = H - 2, OW = W - 2;
    long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (t < N * O * OH * OW) {
        long long j = t % OW, i = t / OW % OH, o = t / (OW * OH) % O, n = t / (OW * OH * O);
        float sum = 0.0f;
        for (int c = 0; c < C; c++) {
            for (int p = 0; p < 3; p++) {
                for (int q = 0; q < 3; q++) {
                    sum += x[((n * C + c) * H + i + p) * W + j + q] * w[((o * C + c) * 3 + p) * 3 + q];
                }
            }
        }
        y[t] = sum;
    }
}

extern "C" void solve(const float* x, const float* w, float* y, int N, int C, int H, int W, int O) {
    int threads = 256;
    long long outputs = (long long)N * O * (H - 2) * (W - 2);
    int blocks = (int)((outputs + threads - 1) / threads);
    conv2d_kernel<<<blocks, threads>>>(x, w, y, N, C, H, W, O);
}
