// Adds within a warp by cooperative groups, where the stage forbids warp primitives.
// It must fail: the PTX shows shuffles.
// expect: refused, not-compiled
// stage: shared-memory
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;

__global__ void softmax(const float *x, float *y, int cols) {
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const float *in = x + (long long)blockIdx.x * cols;
    float part = 0;
    for (int c = threadIdx.x; c < cols; c += 32) part += expf(in[c]);
    float total = cg::reduce(warp, part, cg::plus<float>());
    for (int c = threadIdx.x; c < cols; c += 32) y[(long long)blockIdx.x * cols + c] = expf(in[c]) / total;
}

extern "C" void solve(const float *x, float *y, int rows, int cols) { softmax<<<rows, 32>>>(x, y, cols); }
