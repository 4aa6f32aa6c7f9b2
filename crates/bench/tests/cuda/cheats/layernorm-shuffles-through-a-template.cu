// Reaches the shuffle through a template of a library (cub's warp reduction).
// It must fail: this stage forbids warp primitives, in a library's code too.
// expect: refused, not-compiled
// stage: shared-memory
#include <cub/warp/warp_reduce.cuh>
#include <cuda_runtime.h>

__global__ void normalise(const float *x, const float *gamma, const float *beta, float *y, int n, float eps) {
    typedef cub::WarpReduce<float> Reduce;
    __shared__ typename Reduce::TempStorage room;
    __shared__ float s, q;
    const float *in = x + (long long)blockIdx.x * n;
    float a = 0, b = 0;
    for (int i = threadIdx.x; i < n; i += 32) a += in[i];
    a = Reduce(room).Sum(a);
    if (threadIdx.x == 0) s = a;
    __syncthreads();
    float mean = s / n;
    for (int i = threadIdx.x; i < n; i += 32) b += (in[i] - mean) * (in[i] - mean);
    b = Reduce(room).Sum(b);
    if (threadIdx.x == 0) q = b;
    __syncthreads();
    float scale = rsqrtf(q / n + eps);
    for (int i = threadIdx.x; i < n; i += 32)
        y[(long long)blockIdx.x * n + i] = (in[i] - mean) * scale * gamma[i] + beta[i];
}

extern "C" void solve(const float *x, const float *gamma, const float *beta, float *y, int rows, int n, float eps) {
    normalise<<<rows, 32>>>(x, gamma, beta, y, n, eps);
}
