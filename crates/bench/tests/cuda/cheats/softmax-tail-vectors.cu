// Stores four floats at a time at the end of the matrix as well: right answer, up to three too
// many.
// It must fail: canaries follow every buffer.
// expect: wrong, crashed
#include <cuda_runtime.h>

__global__ void row_sums(const float *x, float *sums, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float s = 0;
    for (int c = 0; c < cols; c++) s += expf(x[(long long)r * cols + c]);
    sums[r] = s;
}

__global__ void divide(const float *x, const float *sums, float *y, long long n, int cols) {
    long long i = 4 * (blockIdx.x * (long long)blockDim.x + threadIdx.x);
    if (i >= n) return;
    float4 v;
    v.x = expf(x[i]) / sums[i / cols];
    v.y = i + 1 < n ? expf(x[i + 1]) / sums[(i + 1) / cols] : 0;
    v.z = i + 2 < n ? expf(x[i + 2]) / sums[(i + 2) / cols] : 0;
    v.w = i + 3 < n ? expf(x[i + 3]) / sums[(i + 3) / cols] : 0;
    *(float4 *)(y + i) = v;
}

extern "C" void solve(const float *x, float *y, int rows, int cols) {
    long long n = (long long)rows * cols;
    float *sums;
    cudaMalloc(&sums, rows * sizeof(float));
    row_sums<<<(rows + 31) / 32, 32>>>(x, sums, rows, cols);
    divide<<<(unsigned)((n / 4 + 256) / 256), 256>>>(x, sums, y, n, cols);
    cudaFree(sums);
}
