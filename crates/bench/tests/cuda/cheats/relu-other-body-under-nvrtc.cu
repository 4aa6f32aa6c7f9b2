// Has a good body for nvcc, which a reader sees, and a cheap one for NVRTC, which is judged.
// It must fail: what is judged is what runs, and it answers zeros.
// expect: wrong, refused, not-compiled
#include <cuda_runtime.h>

#ifdef __CUDACC_RTC__
#define VALUE(v) 0.0f
#else
#define VALUE(v) fmaxf(v, 0.0f)
#endif

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = VALUE(x[i]);
}

extern "C" void solve(const float *x, float *y, long long n) {
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
