// Rows of up to 4,096 stay in registers; a switch picks the template, a plain loop takes longer rows.
#include <cuda_runtime.h>

#define THREADS 256

__device__ float block_reduce(float value, bool is_sum) {
    __shared__ float warps[THREADS / 32];
    for (int d = 16; d > 0; d /= 2) {
        const float other = __shfl_xor_sync(0xffffffffu, value, d);
        value = is_sum ? value + other : fmaxf(value, other);
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
    __syncthreads();
    value = warps[0];
    for (int w = 1; w < THREADS / 32; w++) value = is_sum ? value + warps[w] : fmaxf(value, warps[w]);
    return value;
}

template <int ITEMS>
__global__ void __launch_bounds__(THREADS) softmax_short(const float *__restrict__ x, float *__restrict__ y, int cols) {
    const size_t row = (size_t)blockIdx.x * cols;
    float v[ITEMS], largest = -1e30f, sum = 0.0f;
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        const int j = k * THREADS + threadIdx.x;
        v[k] = j < cols ? x[row + j] : -1e30f;
        largest = fmaxf(largest, v[k]);
    }
    largest = block_reduce(largest, false);
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        v[k] = __expf(v[k] - largest);  // 0 beyond the row
        sum += v[k];
    }
    const float inverse = 1.0f / block_reduce(sum, true);
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        const int j = k * THREADS + threadIdx.x;
        if (j < cols) y[row + j] = v[k] * inverse;
    }
}

__global__ void __launch_bounds__(THREADS) softmax_long(const float *__restrict__ x, float *__restrict__ y, int cols) {
    const size_t row = (size_t)blockIdx.x * cols;
    float largest = -1e30f, sum = 0.0f;
    for (int j = threadIdx.x; j < cols; j += THREADS) largest = fmaxf(largest, x[row + j]);
    largest = block_reduce(largest, false);
    for (int j = threadIdx.x; j < cols; j += THREADS) sum += __expf(x[row + j] - largest);
    const float inverse = 1.0f / block_reduce(sum, true);
    for (int j = threadIdx.x; j < cols; j += THREADS) y[row + j] = __expf(x[row + j] - largest) * inverse;
}

extern "C" void solve(const float *x, float *y, int rows, int cols) {
    switch ((cols + 1023) / 1024) {
        case 1: softmax_short<4><<<rows, THREADS>>>(x, y, cols); break;
        case 2: softmax_short<8><<<rows, THREADS>>>(x, y, cols); break;
        case 3:
        case 4: softmax_short<16><<<rows, THREADS>>>(x, y, cols); break;
        default: softmax_long<<<rows, THREADS>>>(x, y, cols);
    }
}
