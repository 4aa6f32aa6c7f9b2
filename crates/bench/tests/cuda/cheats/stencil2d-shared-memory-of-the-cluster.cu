// Reads the tile of a neighbouring block through distributed shared memory.
// It must fail: this stage forbids shared memory, one's own or another block's.
// expect: refused
// stage: coalescing
#include <cooperative_groups.h>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) sweep(const float *x, float *y, int H, int W) {
    __shared__ float tile[256];
    cg::cluster_group cluster = cg::this_cluster();
    long long i = blockIdx.x * 256ll + threadIdx.x, n = (long long)H * W;
    tile[threadIdx.x] = i < n ? x[i] : 0;
    cluster.sync();
    const float *other = cluster.map_shared_rank(tile, cluster.block_rank() ^ 1);
    if (i < n) {
        int r = (int)(i / W), c = (int)(i % W);
        if (r == 0 || r == H - 1 || c == 0 || c == W - 1) {
            y[i] = x[i];
        } else {
            bool first = cluster.block_rank() == 0;
            float left = threadIdx.x > 0 ? tile[threadIdx.x - 1] : first ? x[i - 1] : other[255];
            float right = threadIdx.x < 255 ? tile[threadIdx.x + 1] : first ? other[0] : x[i + 1];
            y[i] = (x[i] + left + right + x[i - W] + x[i + W]) / 5.0f;
        }
    }
    cluster.sync();
}

extern "C" void solve(const float *x, float *y, int H, int W) {
    unsigned blocks = (unsigned)(((long long)H * W + 255) / 256);
    sweep<<<blocks + blocks % 2, 256>>>(x, y, H, W);
}
