// Synchronises the grid in an ordinary launch of more blocks than the GPU holds at once.
// It must fail: blocks wait for others that cannot begin.
// expect: crashed, timed-out, refused, not-compiled
#include <cooperative_groups.h>
#include <cuda_runtime.h>

__global__ void relu(const float *x, float *y, long long n) {
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) y[i] = fmaxf(x[i], 0.0f);
    cooperative_groups::this_grid().sync();
}

extern "C" void solve(const float *x, float *y, long long n) { relu<<<65535, 256>>>(x, y, n); }
