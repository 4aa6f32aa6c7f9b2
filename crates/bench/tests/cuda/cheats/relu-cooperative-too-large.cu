// A cooperative launch of more blocks than can be resident; its grid-wide barrier cannot work.
// It must fail: such a launch is an error.
// expect: refused, crashed, timed-out, wrong
#include <cooperative_groups.h>
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    cooperative_groups::this_grid().sync();
    long long i = blockIdx.x * 1024ll + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}

extern "C" void solve(const float *x, float *y, long long n) {
    void *args[] = {&x, &y, &n};
    cudaLaunchCooperativeKernel((void *)relu, dim3((unsigned)((n + 1023) / 1024)), dim3(1024), args, 0, 0);
}
