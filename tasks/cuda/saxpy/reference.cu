// z = a x + y. The scale is the sum of the two terms' magnitudes.

#include <cuda_runtime.h>

__global__ void saxpy_reference(float a, const float *x, const float *y, double *z, double *z_scale, int n) {
    const long long stride = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        const double product = (double)a * (double)x[i];
        z[i] = product + (double)y[i];
        z_scale[i] = fabs(product) + fabs((double)y[i]);
    }
}

extern "C" void reference(float a, const float *x, const float *y, double *z, double *z_scale, int n) {
    saxpy_reference<<<2048, 256>>>(a, x, y, z, z_scale, n);
}
