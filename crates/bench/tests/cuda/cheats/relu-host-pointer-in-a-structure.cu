// Passes a structure with a pointer to host memory and reads it in the kernel.
// It must fail: that memory does not exist on the GPU.
// expect: crashed, refused, wrong, not-compiled
#include <cuda_runtime.h>

struct Args { const float *x; float *y; const long long *n; };

__global__ void relu(Args a) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < *a.n) a.y[i] = fmaxf(a.x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    relu<<<(unsigned)((n + 255) / 256), 256>>>(Args{x, y, &n});
}
