// Four steps of diffusion. Points beyond a border are as bright as the border. A coefficient near 0
// keeps an edge. The image is the scale.

#include <cuda_runtime.h>

__global__ void reference_begin(const float *image, double *j, double *scale, long long n) {
    const long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (at < n) j[at] = scale[at] = image[at];
}

struct Slopes {
    double x, y, z, w;
};

__device__ Slopes reference_slopes(const double *j, long long at, int row, int column, int rows, int cols) {
    Slopes slopes;
    slopes.x = j[row > 0 ? at - cols : at] - j[at];
    slopes.y = j[row < rows - 1 ? at + cols : at] - j[at];
    slopes.z = j[column > 0 ? at - 1 : at] - j[at];
    slopes.w = j[column < cols - 1 ? at + 1 : at] - j[at];
    return slopes;
}

__global__ void reference_coefficients(const double *j, double *c, int rows, int cols) {
    const int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y;
    const long long at = (long long)row * cols + column;
    const Slopes d = reference_slopes(j, at, row, column, rows, cols);
    const double g = (d.x * d.x + d.y * d.y + d.z * d.z + d.w * d.w) / (j[at] * j[at]);
    const double l = (d.x + d.y + d.z + d.w) / j[at], half = 1.0 + 0.25 * l;
    const double q = (0.5 * g - l * l / 16.0) / (half * half);
    c[at] = fmin(1.0, fmax(0.0, 1.0 / (1.0 + (q - 0.5) / 0.75)));
}

__global__ void reference_step(const double *j, const double *c, double *to, int rows, int cols) {
    const int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y;
    const long long at = (long long)row * cols + column;
    const Slopes d = reference_slopes(j, at, row, column, rows, cols);
    const double south = c[row < rows - 1 ? at + cols : at], east = c[column < cols - 1 ? at + 1 : at];
    to[at] = j[at] + 0.125 * (c[at] * d.x + south * d.y + c[at] * d.z + east * d.w);
}

extern "C" void reference(const float *image, double *result, double *result_scale, int rows, int cols) {
    const long long n = (long long)rows * cols;
    double *c, *other;
    cudaMalloc(&c, n * sizeof(double));
    cudaMalloc(&other, n * sizeof(double));
    reference_begin<<<(unsigned)((n + 255) / 256), 256>>>(image, result, result_scale, n);
    for (int step = 0; step < 4; step += 2) {
        reference_coefficients<<<dim3(cols / 16, rows), 16>>>(result, c, rows, cols);
        reference_step<<<dim3(cols / 16, rows), 16>>>(result, c, other, rows, cols);
        reference_coefficients<<<dim3(cols / 16, rows), 16>>>(other, c, rows, cols);
        reference_step<<<dim3(cols / 16, rows), 16>>>(other, c, result, rows, cols);
    }
    cudaFree(c);
    cudaFree(other);
}
