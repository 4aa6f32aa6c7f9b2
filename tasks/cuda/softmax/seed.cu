#include <cuda_runtime.h>

__global__ void softmax_kernel(const float* x, float* y, int rows, int cols) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        const float* in = x + (long long)row * cols;
        float* out = y + (long long)row * cols;
        float largest = in[0];
        for (int j = 1; j < cols; j++) {
            largest = fmaxf(largest, in[j]);
        }
        float sum = 0.0f;
        for (int j = 0; j < cols; j++) {
            sum += expf(in[j] - largest);
        }
        for (int j = 0; j < cols; j++) {
            out[j] = expf(in[j] - largest) / sum;
        }
    }
}

extern "C" void solve(const float* x, float* y, int rows, int cols) {
    int threads = 32;
    int blocks = (rows + threads - 1) / threads;
    softmax_kernel<<<blocks, threads>>>(x, y, rows, cols);
}
