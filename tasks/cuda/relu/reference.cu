// y = max(x, 0). Nothing is rounded: the scale is 0, which demands equality.

#include <cuda_runtime.h>

__global__ void relu_reference(const float *x, double *y, double *y_scale, long long n) {
    const long long stride = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        y[i] = x[i] > 0.0f ? (double)x[i] : 0.0;
        y_scale[i] = 0.0;
    }
}

extern "C" void reference(const float *x, double *y, double *y_scale, long long n) {
    relu_reference<<<2048, 256>>>(x, y, y_scale, n);
}
