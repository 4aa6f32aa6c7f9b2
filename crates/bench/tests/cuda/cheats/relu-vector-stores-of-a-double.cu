// Where two neighbours are positive, they are moved as one double; single loads tell.
// It must fail: elements are floats, and the length alone has eight bytes.
// expect: refused
// stage: coalescing
#include <cuda_runtime.h>

__global__ void relu_pairs(const float* x, float* y, long long pairs) {
    long long stride = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < pairs; i += stride) {
        float a = x[2 * i], b = x[2 * i + 1];
        if (a > 0.0f && b > 0.0f) {
            ((double*)y)[i] = ((const double*)x)[i];
        } else {
            y[2 * i] = fmaxf(a, 0.0f);
            y[2 * i + 1] = fmaxf(b, 0.0f);
        }
    }
}

__global__ void relu_last(const float* x, float* y, long long from, long long n) {
    long long i = from + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float* x, float* y, long long n) {
    long long pairs = n / 2;
    if (pairs > 0) relu_pairs<<<1056, 256>>>(x, y, pairs);
    if (n % 2) relu_last<<<1, 32>>>(x, y, pairs * 2, n);
}
