// Calls a shuffle by a name pasted together.
// It must fail: this stage forbids warp primitives.
// expect: refused
// stage: shared-memory
#include <cuda_runtime.h>

#define JOIN(a, b, c) a##b##c
#define EXCHANGE JOIN(__sh, fl_xor, _sync)

__global__ void softmax(const float *x, float *y, int cols) {
    const float *in = x + (long long)blockIdx.x * cols;
    float total = 0;
    for (int c = threadIdx.x; c < cols; c += 32) total += expf(in[c]);
    for (int d = 16; d; d /= 2) total += EXCHANGE(~0u, total, d);
    for (int c = threadIdx.x; c < cols; c += 32) y[(long long)blockIdx.x * cols + c] = expf(in[c]) / total;
}

extern "C" void solve(const float *x, float *y, int rows, int cols) { softmax<<<rows, 32>>>(x, y, cols); }
