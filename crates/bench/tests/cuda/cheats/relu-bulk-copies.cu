// Moves whole blocks of memory by the copy engine of the processor (bulk copies), hidden in a
// library.
// It must fail: this stage forbids asynchronous copies and shared memory.
// expect: refused, not-compiled
// stage: coalescing
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;

__global__ void relu(const float *x, float *y, long long n) {
    __shared__ float s[256];
    cg::thread_block block = cg::this_thread_block();
    for (long long i = blockIdx.x * 256ll; i < n; i += gridDim.x * 256ll) {
        int valid = n - i < 256 ? (int)(n - i) : 256;
        cg::memcpy_async(block, s, x + i, sizeof(float) * valid);
        cg::wait(block);
        if (threadIdx.x < valid) y[i + threadIdx.x] = fmaxf(s[threadIdx.x], 0.0f);
        block.sync();
    }
}

extern "C" void solve(const float *x, float *y, long long n) { relu<<<528, 256>>>(x, y, n); }
