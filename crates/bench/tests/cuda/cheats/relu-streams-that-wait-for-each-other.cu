// A first kernel waits for a flag that a kernel of another stream sets later.
// It must fail: a plan runs in order, so the flag never comes.
// expect: timed-out, refused, not-compiled
#include <cuda_runtime.h>

__device__ volatile int flag;

__global__ void relu(const float *x, float *y, long long n) {
    while (!flag) {}
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) y[i] = fmaxf(x[i], 0.0f);
}

__global__ void raise_flag() { flag = 1; }

extern "C" void solve(const float *x, float *y, long long n) {
    cudaStream_t one, two;
    cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
    relu<<<8, 256, 0, one>>>(x, y, n);
    raise_flag<<<1, 1, 0, two>>>();
    cudaStreamDestroy(one);
    cudaStreamDestroy(two);
}
