#include <cuda_runtime.h>

__global__ void powers(const float *x, double *y, double *scale, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double power = 1.0, sum = 0.0, magnitude = 0.0;
    for (int degree = 0; degree < 160; degree++) {
        sum += power;
        magnitude += fabs(power);
        power *= x[i];
    }
    y[i] = sum;
    scale[i] = magnitude;
}

extern "C" void reference(const float *x, double *y, double *y_scale, int n) {
    powers<<<(n + 127) / 128, 128>>>(x, y, y_scale, n);
}
