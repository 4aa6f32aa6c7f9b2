// Defines cudaMemset itself, past the recorder, and launches only if the own one was called.
// It must fail: the recorder's functions are not replaceable.
// expect: not-compiled, refused, crashed, wrong
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

static int own_calls;
extern "C" cudaError_t cudaMemset(void *, int, size_t) {
    own_calls++;
    return cudaSuccess;
}

extern "C" void solve(const float *x, float *y, long long n) {
    cudaMemset(y, 0, n * sizeof(float));
    if (own_calls != 1) return;
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
