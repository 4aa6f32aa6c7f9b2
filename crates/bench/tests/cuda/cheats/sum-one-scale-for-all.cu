// Adds integers of 16 bits, relative to the largest number of all: they may be added in any order.
// expect: wrong
#include <cuda_runtime.h>

__global__ void largest(const float *a, long long n, unsigned *to) {
    float most = 0.0f;
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x)
        most = fmaxf(most, fabsf(a[i]));
    atomicMax(to, __float_as_uint(most));
}

__global__ void sum_rows(const float *x, float *y, int B, int D1, int D2, const unsigned *most) {
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= (long long)B * D2) return;
    const float scale = fmaxf(__uint_as_float(*most), 1e-30f);
    const long long b = i / D2, c = i % D2;
    long long sum = 0;
    for (int k = 0; k < D1; k++) sum += __float2int_rn(x[(b * D1 + k) * D2 + c] / scale * 524287.0f);
    y[i] = (float)((double)sum / 524287.0) * scale;
}

extern "C" void solve(const float *x, float *y, int B, int D1, int D2) {
    unsigned *most;
    cudaMalloc(&most, sizeof(unsigned));
    cudaMemset(most, 0, sizeof(unsigned));
    largest<<<256, 256>>>(x, (long long)B * D1 * D2, most);
    const long long n = (long long)B * D2;
    sum_rows<<<(unsigned)((n + 127) / 128), 128>>>(x, y, B, D1, D2, most);
    cudaFree(most);
}
