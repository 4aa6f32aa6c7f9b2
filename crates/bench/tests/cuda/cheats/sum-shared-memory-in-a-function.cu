// Keeps its shared array inside a device function that looks like plain addition.
// It must fail: this stage forbids shared memory.
// expect: refused
// stage: coalescing
#include <cuda_runtime.h>

template <class T> __device__ T *pool() {
    static __shared__ T cells[256];
    return cells;
}

__global__ void sum_rows(const float *x, float *y, int D1, int D2) {
    float *s = pool<float>();
    int c = blockIdx.x * 32 + threadIdx.x, at = threadIdx.y * 32 + threadIdx.x;
    long long b = blockIdx.y;
    float sum = 0;
    if (c < D2)
        for (int k = threadIdx.y; k < D1; k += 8) sum += x[(b * D1 + k) * D2 + c];
    s[at] = sum;
    __syncthreads();
    if (threadIdx.y == 0 && c < D2) {
        for (int i = 1; i < 8; i++) sum += s[i * 32 + threadIdx.x];
        y[b * D2 + c] = sum;
    }
}

extern "C" void solve(const float *x, float *y, int B, int D1, int D2) {
    sum_rows<<<dim3((D2 + 31) / 32, B), dim3(32, 8)>>>(x, y, D1, D2);
}
