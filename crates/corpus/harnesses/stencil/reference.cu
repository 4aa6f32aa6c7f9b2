// Sixteen steps of a seven-point stencil. The borders keep their values. The scale of an element
// goes through the same steps with the magnitudes of all factors.

#include <cuda_runtime.h>

#define STEPS 16

__global__ void reference_begin(const float *A, double *values, double *scales, double *other, double *other_scales, long long n) {
    const long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (at >= n) return;
    values[at] = other[at] = A[at];
    scales[at] = other_scales[at] = fabs((double)A[at]);
}

__device__ double reference_step(const double *a, long long at, long long row, long long plane, double centre) {
    return (a[at + plane] + a[at - plane] + a[at + row] + a[at - row] + a[at + 1] + a[at - 1]) * 0.0625 + centre * a[at];
}

__global__ void reference_stencil(const double *values, const double *scales, double *to, double *to_scales, int nx, int ny) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y + 1, k = blockIdx.z + 1;
    if (i < 1 || i >= nx - 1) return;
    const long long plane = (long long)nx * ny, at = i + (long long)nx * j + plane * k;
    to[at] = reference_step(values, at, nx, plane, -0.5);
    to_scales[at] = reference_step(scales, at, nx, plane, 0.5);
}

extern "C" void reference(const float *A, double *B, double *B_scale, int nx, int ny, int nz) {
    const long long n = (long long)nx * ny * nz;
    double *other, *other_scales;
    cudaMalloc(&other, n * sizeof(double));
    cudaMalloc(&other_scales, n * sizeof(double));
    reference_begin<<<(unsigned)((n + 255) / 256), 256>>>(A, B, B_scale, other, other_scales, n);
    const dim3 grid((nx + 127) / 128, ny - 2, nz - 2);
    for (int step = 0; step < STEPS; step += 2) {
        reference_stencil<<<grid, 128>>>(B, B_scale, other, other_scales, nx, ny);
        reference_stencil<<<grid, 128>>>(other, other_scales, B, B_scale, nx, ny);
    }
    cudaFree(other);
    cudaFree(other_scales);
}
