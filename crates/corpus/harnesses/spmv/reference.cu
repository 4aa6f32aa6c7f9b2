// A sparse matrix in jagged diagonals: the first half of the warps has rows of `depth` entries, the
// other half rows of half as many. Row r of the result is the last row but r.

#include <cuda_runtime.h>

__global__ void reference_product(const float *data, const int *index, const float *x, double *y, double *y_scale, int warps, int depth) {
    const int row = blockIdx.x * 32 + threadIdx.x, rows = 32 * warps;
    const int longer = (warps + 1) / 2, half = (depth + 1) / 2;
    const int entries = row / 32 < longer ? depth : half;
    double sum = 0.0, magnitude = 0.0;
    for (int k = 0; k < entries; k++) {
        const long long begin = k <= half ? (long long)k * rows : (long long)half * rows + (k - half) * 32LL * longer;
        const double term = (double)data[begin + row] * x[index[begin + row]];
        sum += term;
        magnitude += fabs(term);
    }
    y[rows - 1 - row] = sum;
    y_scale[rows - 1 - row] = magnitude + 1e-30;
}

extern "C" void reference(const float *data, const int *index, const float *x, double *y, double *y_scale, int warps, int depth) {
    reference_product<<<warps, 32>>>(data, index, x, y, y_scale, warps, depth);
}
