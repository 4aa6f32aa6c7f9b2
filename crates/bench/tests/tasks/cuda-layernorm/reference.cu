#include <cuda_runtime.h>

#define THREADS 256

__device__ double block_sum(double value) {
    __shared__ double parts[THREADS];
    parts[threadIdx.x] = value;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
        __syncthreads();
    }
    const double sum = parts[0];
    __syncthreads();
    return sum;
}

__global__ void layernorm_reference(const float *x, const float *gamma, const float *beta, double *y, double *y_scale, int n, float eps) {
    const long long row = (long long)blockIdx.x * n;
    double sum = 0.0, magnitudes = 0.0;
    for (int j = threadIdx.x; j < n; j += THREADS) {
        sum += x[row + j];
        magnitudes += fabs((double)x[row + j]);
    }
    const double mean = block_sum(sum) / n, entered = block_sum(magnitudes) / n;
    double squares = 0.0;
    for (int j = threadIdx.x; j < n; j += THREADS) squares += (x[row + j] - mean) * (x[row + j] - mean);
    const double variance = block_sum(squares) / n, safe = variance + (double)eps;
    const double inverse = 1.0 / sqrt(safe), cancelled = (variance + mean * mean) / safe;
    for (int j = threadIdx.x; j < n; j += THREADS) {
        const double factor = inverse * gamma[j], centred = x[row + j] - mean;
        const double magnitude = fabs((double)x[row + j]) + entered + fabs(centred) * cancelled;
        y[row + j] = centred * factor + beta[j];
        y_scale[row + j] = magnitude * fabs(factor) + fabs((double)beta[j]);
    }
}

extern "C" void reference(const float *x, const float *w, const float *b, double *y, double *y_scale, int rows, int cols) {
    layernorm_reference<<<rows, THREADS>>>(x, w, b, y, y_scale, cols, 1e-5f);
}
