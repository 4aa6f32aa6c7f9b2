// An adapter's share of a product, for few rows: y += scale * (x A') B' of all its parts at once.
//
// While a token is decoded each of these products is far too small for a library's call to pay: one launch does what
// takes two to four of them. Parts lie one after the other in A, (parts * rank, inputs), and each has its own B,
// (outputs, rank), and its own columns of y. Grid (rows, splits of the outputs), 512 threads; rank is a multiple of 8
// and parts * rank at most 192. Rounding is that of the products it replaces: `low` is `real`, and so is y before.

#define LOW_MAX 192
#define LORA_WARPS 16

// A warp's sums of four rows of A over its slice of x. Four at a time, so that loads overlap and x is read once for all.
__device__ inline void low_sums(const real* x, const real* a, int inputs, int first, int width, int begin, int end,
                                float* sum) {
    int lane = threadIdx.x & 31;
    sum[0] = sum[1] = sum[2] = sum[3] = 0.0f;
#pragma unroll 2
    for (int i = begin + lane * 8; i < end; i += 256) {
        Eight value = load8(x + i);
#pragma unroll
        for (int r = 0; r < 4; r++) {
            Eight weight = load8(a + (i64)min(first + r, width - 1) * inputs + i);
#pragma unroll
            for (int j = 0; j < 8; j++) sum[r] += value.v[j] * weight.v[j];
        }
    }
#pragma unroll
    for (int r = 0; r < 4; r++) sum[r] = warp_sum(sum[r]);
}

extern "C" __global__ void __launch_bounds__(512)
    lora_rows(const real* x, const real* a, const real* b0, const real* b1, const real* b2, real* low, real* y, int inputs,
              int stride, int rank, int width, int column0, int column1, int column2, int outputs0, int outputs1,
              int outputs2, float scale) {
    __shared__ float sums[LORA_WARPS][LOW_MAX], lows[LOW_MAX];
    int row = blockIdx.x, warp = threadIdx.x >> 5;
    // Warps share the rows of A by fours; where there are more warps, they share x too.
    int fours = (width + 3) / 4, slices = max(1, LORA_WARPS / fours), slice = warp % slices;
    int each = (inputs / 8 + slices - 1) / slices * 8;
    for (int four = warp / slices; four < fours; four += LORA_WARPS / slices) {
        float sum[4];
        low_sums(x + (i64)row * inputs, a, inputs, four * 4, width, slice * each, min((slice + 1) * each, inputs), sum);
        if ((threadIdx.x & 31) == 0) {
#pragma unroll
            for (int r = 0; r < 4; r++) sums[slice][four * 4 + r] = sum[r];
        }
    }
    __syncthreads();
    for (int r = threadIdx.x; r < width; r += blockDim.x) {
        float sum = 0.0f;
        for (int n = 0; n < slices; n++) sum += sums[n][r];
        real rounded = put(sum);
        lows[r] = get(rounded);
        if (blockIdx.y == 0) low[(i64)row * width + r] = rounded;
    }
    __syncthreads();
    int all = outputs0 + outputs1 + outputs2, share = (all + gridDim.y - 1) / gridDim.y;
    int end = min(all, (int)(blockIdx.y + 1) * share);
    for (int n = blockIdx.y * share + threadIdx.x; n < end; n += blockDim.x) {
        bool second = n >= outputs0, third = n >= outputs0 + outputs1;
        int place = third ? n - outputs0 - outputs1 : second ? n - outputs0 : n;
        int column = third ? column2 : second ? column1 : column0;
        const float* with = lows + (third ? 2 * rank : second ? rank : 0);
        const real* b = (third ? b2 : second ? b1 : b0) + (i64)place * rank;
        float sum = 0.0f;
        for (int r = 0; r < rank; r += 8) {
            Eight weight = load8(b + r);
#pragma unroll
            for (int j = 0; j < 8; j++) sum += with[r + j] * weight.v[j];
        }
        real* to = y + (i64)row * stride + column + place;
        *to = put(get(*to) + scale * sum);
    }
}
