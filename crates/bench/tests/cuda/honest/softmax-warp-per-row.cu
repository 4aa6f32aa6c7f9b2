// One warp a row, and maximum and sum in one pass: the sum is rescaled when the maximum grows.
#include <cuda_runtime.h>

__global__ void __launch_bounds__(128) softmax_fast(const float *__restrict__ x, float *__restrict__ y, int rows, int cols) {
    const int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    const float *in = x + (long long)row * cols;
    float largest = -1e30f, sum = 0.0f;
    for (int j = lane; j < cols; j += 32) {
        const float v = in[j], larger = fmaxf(largest, v);
        sum = sum * __expf(largest - larger) + __expf(v - larger);
        largest = larger;
    }
    for (int d = 16; d; d >>= 1) {
        const float other = __shfl_xor_sync(0xffffffffu, largest, d), other_sum = __shfl_xor_sync(0xffffffffu, sum, d);
        const float larger = fmaxf(largest, other);
        sum = sum * __expf(largest - larger) + other_sum * __expf(other - larger);
        largest = larger;
    }
    const float inverse = 1.0f / sum;
    for (int j = lane; j < cols; j += 32) y[(long long)row * cols + j] = __expf(in[j] - largest) * inverse;
}

extern "C" void solve(const float *x, float *y, int rows, int cols) {
    softmax_fast<<<(rows + 3) / 4, 128>>>(x, y, rows, cols);
}
