// First and last row by cudaMemcpyAsync within the device; a kernel for the rows between.
#include <cuda_runtime.h>

__global__ void inner_rows(const float *x, float *y, int W) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= W) return;
    const float *in = x + (size_t)(blockIdx.y + 1) * W;
    float *out = y + (size_t)(blockIdx.y + 1) * W;
    if (j == 0 || j == W - 1) {
        out[j] = in[j];
    } else {
        float sum = in[j];
        sum += in[j - 1];
        sum += in[j + 1];
        sum += (in - W)[j];
        sum += (in + W)[j];
        out[j] = sum / 5;
    }
}

extern "C" void solve(const float *x, float *y, int H, int W) {
    const size_t row = W * sizeof(float);
    cudaMemcpyAsync(y, x, row, cudaMemcpyDeviceToDevice);
    if (H > 1) cudaMemcpyAsync(y + (size_t)(H - 1) * W, x + (size_t)(H - 1) * W, row, cudaMemcpyDeviceToDevice);
    if (H > 2) inner_rows<<<dim3((W + 255) / 256, H - 2), 256>>>(x, y, W);
}
