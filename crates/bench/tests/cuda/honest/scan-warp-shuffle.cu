// Eight consecutive elements a thread in registers, then shuffles; one block scans the sums.
#include <cuda_runtime.h>

namespace {

constexpr int kThreads = 256, kItems = 8, kTile = kThreads * kItems;

__device__ __forceinline__ float warp_inclusive(float v) {
    const int lane = threadIdx.x & 31;
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
        const float up = __shfl_up_sync(0xffffffffu, v, d);
        if (lane >= d) v += up;
    }
    return v;
}

// The sum of everything before this thread in the block; `total` is the sum of the block.
__device__ float block_before(float own, float &total) {
    __shared__ float warps[kThreads / 32];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const float inclusive = warp_inclusive(own);
    float before = __shfl_up_sync(0xffffffffu, inclusive, 1);
    if (lane == 0) before = 0.0f;
    if (lane == 31) warps[warp] = inclusive;
    __syncthreads();
    total = 0.0f;
    float earlier = 0.0f;
    for (int w = 0; w < kThreads / 32; w++) {
        if (w == warp) earlier = total;
        total += warps[w];
    }
    __syncthreads();
    return earlier + before;
}

__global__ void __launch_bounds__(kThreads) tile_sums(const float *__restrict__ x, float *__restrict__ sums, int n) {
    float sum = 0.0f;
    for (int k = 0; k < kItems; k++) {
        const long long i = (long long)blockIdx.x * kTile + k * kThreads + threadIdx.x;
        if (i < n) sum += x[i];
    }
    float total;
    block_before(sum, total);
    if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

__global__ void __launch_bounds__(kThreads) scan_sums(float *sums, int tiles) {
    float carried = 0.0f;
    for (int first = 0; first < tiles; first += kThreads) {
        const int i = first + threadIdx.x;
        const float own = i < tiles ? sums[i] : 0.0f;
        float total;
        const float before = block_before(own, total);
        if (i < tiles) sums[i] = carried + before;
        carried += total;
    }
}

__global__ void __launch_bounds__(kThreads) scan_tiles(const float *__restrict__ x, const float *__restrict__ before, float *__restrict__ y, int n) {
    const long long first = (long long)blockIdx.x * kTile + threadIdx.x * kItems;
    float v[kItems], sum = 0.0f;
#pragma unroll
    for (int k = 0; k < kItems; k++) {
        sum += first + k < n ? x[first + k] : 0.0f;
        v[k] = sum;
    }
    float total;
    const float offset = before[blockIdx.x] + block_before(sum, total);
#pragma unroll
    for (int k = 0; k < kItems; k++) {
        if (first + k < n) y[first + k] = offset + v[k];
    }
}

}  // namespace

extern "C" void solve(const float *x, float *y, int n) {
    const int tiles = (n + kTile - 1) / kTile;
    float *sums;
    cudaMallocAsync(&sums, tiles * sizeof(float), 0);
    tile_sums<<<tiles, kThreads>>>(x, sums, n);
    scan_sums<<<1, kThreads>>>(sums, tiles);
    scan_tiles<<<tiles, kThreads>>>(x, sums, y, n);
    cudaFreeAsync(sums, 0);
}
