#include <cuda_runtime.h>

__global__ void backwards(const int *x, double *y, double *scale, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[i] = x[n - 1 - i];
    scale[i] = 1.0;
}

extern "C" void reference(const int *x, double *y, double *y_scale, int n) {
    backwards<<<(n + 127) / 128, 128>>>(x, y, y_scale, n);
}
