// A power of two of lanes takes each row, as a template argument says; names are in a namespace.
#include <cuda_runtime.h>

namespace sparse {

template <int LANES>
__global__ void rows(const int *__restrict__ starts, const int *__restrict__ columns, const float *__restrict__ values, const float *__restrict__ x, float *__restrict__ y, int count) {
    static_assert(LANES > 0 && LANES <= 32 && (LANES & (LANES - 1)) == 0, "a power of two");
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / LANES, lane = threadIdx.x % LANES;
    float sum = 0.0f;
    if (row < count) {
        const int end = __ldg(starts + row + 1);
        for (int e = __ldg(starts + row) + lane; e < end; e += LANES) sum = fmaf(__ldcs(values + e), __ldg(x + __ldcs(columns + e)), sum);
    }
#pragma unroll
    for (int d = LANES / 2; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d, LANES);
    if (row < count && lane == 0) y[row] = sum;
}

template <int LANES, int THREADS = 256>
inline void multiply(const int *starts, const int *columns, const float *values, const float *x, float *y, int count) {
    constexpr int per_block = THREADS / LANES;
    rows<LANES><<<(count + per_block - 1) / per_block, THREADS>>>(starts, columns, values, x, y, count);
}

}  // namespace sparse

extern "C" void solve(const int *row_ptr, const int *col_idx, const float *values, const float *x, float *y, int M) {
    using namespace sparse;
    multiply<8>(row_ptr, col_idx, values, x, y, M);
}
