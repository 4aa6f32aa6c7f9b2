// An adapter's share of a product, for few rows: y += scale * (x A') B' of all its parts at once.
//
// In a decode step each of these products is too small for a library call to be worthwhile. One launch replaces two to
// four such calls. Parts lie one after the other in A, (parts * rank, inputs), and each has its own B,
// (outputs, rank), and its own columns of y. A block takes four rows, so that A and B are read a fourth as often:
// grid (rows / 4, splits of the outputs), 512 threads; rank is a multiple of 8 and parts * rank at most 192.
// Rounding is that of the products it replaces: `low` is `real`, and so is y before.

#define LOW_MAX 192
#define LORA_WARPS 16
#define LORA_ROWS 4

// A warp's sums of four rows of A, for each of four rows of x, over its slice of them.
__device__ inline void low_sums(const real* const* x, const real* a, int inputs, int first, int width, int begin,
                                int end, float sum[LORA_ROWS][4]) {
#pragma unroll
    for (int n = 0; n < LORA_ROWS; n++) sum[n][0] = sum[n][1] = sum[n][2] = sum[n][3] = 0.0f;
    for (int i = begin + (threadIdx.x & 31) * 8; i < end; i += 256) {
        Eight value[LORA_ROWS];
#pragma unroll
        for (int n = 0; n < LORA_ROWS; n++) value[n] = load8(x[n] + i);
#pragma unroll
        for (int r = 0; r < 4; r++) {
            Eight weight = load8(a + (i64)min(first + r, width - 1) * inputs + i);
#pragma unroll
            for (int n = 0; n < LORA_ROWS; n++) {
#pragma unroll
                for (int j = 0; j < 8; j++) sum[n][r] += value[n].v[j] * weight.v[j];
            }
        }
    }
#pragma unroll
    for (int n = 0; n < LORA_ROWS; n++) {
#pragma unroll
        for (int r = 0; r < 4; r++) sum[n][r] = warp_sum(sum[n][r]);
    }
}

extern "C" __global__ void __launch_bounds__(512)
    lora_rows(const real* x, const real* a, const real* b0, const real* b1, const real* b2, real* low, real* y, int rows,
              int inputs, int stride, int rank, int width, int column0, int column1, int column2, int outputs0,
              int outputs1, int outputs2, float scale) {
    __shared__ float sums[LORA_WARPS][LORA_ROWS][4], lows[LORA_ROWS][LOW_MAX];
    int row = blockIdx.x * LORA_ROWS, here = min(LORA_ROWS, rows - row), warp = threadIdx.x >> 5;
    const real* from[LORA_ROWS];
#pragma unroll
    for (int n = 0; n < LORA_ROWS; n++) from[n] = x + (i64)min(row + n, rows - 1) * inputs;
    // Each warp takes four rows of A. If there are more warps than that, they divide x as well.
    int fours = (width + 3) / 4, slices = max(1, LORA_WARPS / fours), slice = warp % slices;
    int each = (inputs / 8 + slices - 1) / slices * 8, together = LORA_WARPS / slices;
    for (int turn = 0; turn < fours; turn += together) {
        int four = turn + warp / slices;
        if (four < fours && warp < together * slices) {
            float sum[LORA_ROWS][4];
            low_sums(from, a, inputs, four * 4, width, slice * each, min((slice + 1) * each, inputs), sum);
            if ((threadIdx.x & 31) == 0) {
#pragma unroll
                for (int n = 0; n < LORA_ROWS; n++) {
#pragma unroll
                    for (int r = 0; r < 4; r++) sums[warp][n][r] = sum[n][r];
                }
            }
        }
        __syncthreads();
        for (int at = threadIdx.x; at < together * 4 * here; at += blockDim.x) {
            int n = at / (together * 4), r = at % (together * 4), place = turn * 4 + r;
            float sum = 0.0f;
            for (int s = 0; s < slices; s++) sum += sums[r / 4 * slices + s][n][r % 4];
            real rounded = put(sum);
            if (place >= width) continue;
            lows[n][place] = get(rounded);
            if (blockIdx.y == 0) low[(i64)(row + n) * width + place] = rounded;
        }
        __syncthreads();
    }
    int all = outputs0 + outputs1 + outputs2, share = (all + gridDim.y - 1) / gridDim.y;
    int end = min(all, (int)(blockIdx.y + 1) * share);
    for (int n = blockIdx.y * share + threadIdx.x; n < end; n += blockDim.x) {
        bool second = n >= outputs0, third = n >= outputs0 + outputs1;
        int place = third ? n - outputs0 - outputs1 : second ? n - outputs0 : n;
        int column = third ? column2 : second ? column1 : column0, part = third ? 2 * rank : second ? rank : 0;
        const real* b = (third ? b2 : second ? b1 : b0) + (i64)place * rank;
        float sum[LORA_ROWS] = {0.0f, 0.0f, 0.0f, 0.0f};
        for (int r = 0; r < rank; r += 8) {
            Eight weight = load8(b + r);
#pragma unroll
            for (int m = 0; m < LORA_ROWS; m++) {
#pragma unroll
                for (int j = 0; j < 8; j++) sum[m] += lows[m][part + r + j] * weight.v[j];
            }
        }
#pragma unroll
        for (int m = 0; m < LORA_ROWS; m++) {
            real* to = y + (i64)(row + m) * stride + column + place;
            if (m < here) *to = put(get(*to) + scale * sum[m]);
        }
    }
}
