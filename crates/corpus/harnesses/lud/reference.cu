// LU without pivoting, column by column, of a matrix with n added to its diagonal. The scale of an
// element is the sum of its terms' magnitudes, divided by what divides the element.

#include <cuda_runtime.h>

__global__ void reference_begin(const float *A, double *LU, double *scale, int n) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
    if (j >= n) return;
    const long long at = (long long)i * n + j;
    LU[at] = A[at] + (i == j ? (double)n : 0.0);
    scale[at] = fabs(LU[at]) + 1e-30;
}

__global__ void reference_divide(double *LU, double *scale, int n, int k) {
    const int i = k + 1 + blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    LU[(long long)i * n + k] /= LU[(long long)k * n + k];
    scale[(long long)i * n + k] /= fabs(LU[(long long)k * n + k]);
}

__global__ void reference_subtract(double *LU, double *scale, int n, int k) {
    const int j = k + 1 + blockIdx.x * blockDim.x + threadIdx.x, i = k + 1 + blockIdx.y;
    if (j >= n) return;
    const double l = LU[(long long)i * n + k], u = LU[(long long)k * n + j];
    LU[(long long)i * n + j] -= l * u;
    scale[(long long)i * n + j] += fabs(l * u);
}

extern "C" void reference(const float *A, double *LU, double *LU_scale, int n) {
    reference_begin<<<dim3((n + 127) / 128, n), 128>>>(A, LU, LU_scale, n);
    for (int k = 0; k < n - 1; k++) {
        const int left = n - 1 - k;
        reference_divide<<<(left + 127) / 128, 128>>>(LU, LU_scale, n, k);
        reference_subtract<<<dim3((left + 127) / 128, left), 128>>>(LU, LU_scale, n, k);
    }
}
