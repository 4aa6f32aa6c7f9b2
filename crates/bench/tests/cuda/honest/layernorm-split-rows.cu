// Several blocks share a row: partial sums in scratch memory, then a second launch that applies them.
#include <cuda_runtime.h>

#define PARTS 4
#define WIDTH 128

__global__ void partial(const float *x, float2 *sums, int n) {
    __shared__ float2 parts[WIDTH];
    const long long row = (long long)blockIdx.x * n;
    float2 own = {0.0f, 0.0f};
    for (int j = blockIdx.y * WIDTH + threadIdx.x; j < n; j += PARTS * WIDTH) {
        own.x += x[row + j];
        own.y += x[row + j] * x[row + j];
    }
    parts[threadIdx.x] = own;
    __syncthreads();
    for (int half = WIDTH / 2; half; half /= 2) {
        if (threadIdx.x < half) {
            parts[threadIdx.x].x += parts[threadIdx.x + half].x;
            parts[threadIdx.x].y += parts[threadIdx.x + half].y;
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) sums[blockIdx.x * PARTS + blockIdx.y] = parts[0];
}

__global__ void apply(const float *x, const float *gamma, const float *beta, const float2 *sums, float *y, int n, float eps) {
    float2 all = {0.0f, 0.0f};
    for (int p = 0; p < PARTS; p++) {
        all.x += sums[blockIdx.x * PARTS + p].x;
        all.y += sums[blockIdx.x * PARTS + p].y;
    }
    const float mean = all.x / n, inverse = rsqrtf(all.y / n - mean * mean + eps);
    const long long row = (long long)blockIdx.x * n;
    for (int j = blockIdx.y * WIDTH + threadIdx.x; j < n; j += PARTS * WIDTH) {
        y[row + j] = (x[row + j] - mean) * inverse * gamma[j] + beta[j];
    }
}

extern "C" void solve(const float *x, const float *gamma, const float *beta, float *y, int rows, int n, float eps) {
    float2 *sums;
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaMallocAsync(&sums, sizeof(float2) * PARTS * rows, stream);
    partial<<<dim3(rows, PARTS), WIDTH, 0, stream>>>(x, sums, n);
    apply<<<dim3(rows, PARTS), WIDTH, 0, stream>>>(x, gamma, beta, sums, y, n, eps);
    cudaFreeAsync(sums, stream);
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
}
