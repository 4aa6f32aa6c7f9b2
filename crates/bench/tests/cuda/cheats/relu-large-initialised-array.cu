// Puts 24 MB of initialised data into the module; the text made of it is longer than a compiler
// may write.
// It must fail: the compiler's output is too large; that is the candidate's fault, not the
// machine's.
// expect: not-compiled, refused, timed-out, crashed
#include <cuda_runtime.h>

extern __device__ float table[];

__global__ void relu(const float *x, float *y, long long n) {
    long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], table[1 + i % 1000]);
}

__device__ float table[6000000] = {1.0f};

extern "C" void solve(const float *x, float *y, long long n) {
    relu<<<(unsigned)((n + 255) / 256), 256>>>(x, y, n);
}
