// Overloaded device functions and a kernel template whose type the arguments give.
#include <cuda_runtime.h>

__device__ inline float combine(float a, float b) { return a + b; }
__device__ inline float2 combine(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
__device__ inline float zero(const float *) { return 0.0f; }
__device__ inline float2 zero(const float2 *) { return make_float2(0.0f, 0.0f); }

template <class T>
__global__ void add_rows(const T *x, T *y, int rows, int width) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= width) return;
    const T *from = x + (size_t)blockIdx.y * rows * width + j;
    T a = zero(x), b = zero(x), c = zero(x), d = zero(x);
    int i = 0;
    for (; i + 4 <= rows; i += 4, from += (size_t)4 * width) {
        a = combine(a, from[0]);
        b = combine(b, from[width]);
        c = combine(c, from[(size_t)2 * width]);
        d = combine(d, from[(size_t)3 * width]);
    }
    for (; i < rows; i++, from += width) a = combine(a, *from);
    y[(size_t)blockIdx.y * width + j] = combine(combine(a, b), combine(c, d));
}

extern "C" void solve(const float *x, float *y, int B, int D1, int D2) {
    if (D2 % 2 == 0) {
        const int width = D2 / 2;
        add_rows<<<dim3((width + 31) / 32, B), 32>>>((const float2 *)x, (float2 *)y, D1, width);
    } else {
        add_rows<<<dim3((D2 + 31) / 32, B), 32>>>(x, y, D1, D2);
    }
}
