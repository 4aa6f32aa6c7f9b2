// Attention of one new token on tensor cores (bf16, heads of 64 or 128 values): mma.sync m16n8k16, with fragments as
// in flash.cu.
//
// A block takes one row, one key head with up to 8 of its query heads, and one run of RUN keys; each of its 8 warps takes
// 16 keys at a time, from memory into registers. This needs no shared memory, because sums have no order: a lane loads
// 16 neighbouring bytes and uses them as the fragment's columns. Queries and results are numbered in the same order.
//   scores (16 keys x 8 heads): lane (g, t) holds dims 32 i + 8 t .. + 8 of keys g and g + 8, and of query head g.
//   values (16 dims x 8 heads): lane (g, t) holds dims 64 i + 8 g .. + 8 of keys 2 t, 2 t + 1, 2 t + 8 and 2 t + 9; tile
//   4 i + j takes two of each eight, 2 j for rows below 8 and 2 j + 1 for the others.
// Grid (rows, kv_heads * ceil(group / 8), runs), 256 threads.
//
// The last block of a row to finish joins the row's runs in a fixed order. `arrivals` only counts blocks.
#if !defined(HOTLOOP_F32) && defined(HEAD_DIM) && HEAD_DIM % 64 == 0 && HEAD_DIM <= 128

#define DECODE_WARPS 8

union Sixteen {
    uint4 all;
    u32 word[4];
};

__device__ inline Sixteen load16(const real* at) {
    Sixteen out;
    out.all = *(const uint4*)at;
    return out;
}

// The j-th halves of two rows, side by side.
__device__ inline u32 pair(const Sixteen& low, const Sixteen& high, int j) {
    u32 a = low.word[j >> 1], b = high.word[j >> 1];
    return j & 1 ? a >> 16 | (b & 0xffff0000u) : (a & 0xffffu) | b << 16;
}

// An 8x8 block, (g, 2t) and (g, 2t + 1) a lane, transposed.
__device__ inline u32 transposed(u32 x) {
#ifdef HOTLOOP_EMULATED
    return emulate_movmatrix_trans(x);
#else
    u32 out;
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(out) : "r"(x));
    return out;
#endif
}

// 16 keys and their values. Keys beyond the last repeat the last one, and are masked later.
template <int D> struct KeysValues {
    Sixteen k[2][D / 32], v[4][D / 64];

    __device__ inline void load(const real* keys, const real* values, i64 width, int first, int end) {
        int lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3;
#pragma unroll
        for (int n = 0; n < 2; n++) {
            const real* from = keys + min(first + n * 8 + g, end - 1) * width + t * 8;
#pragma unroll
            for (int i = 0; i < D / 32; i++) k[n][i] = load16(from + i * 32);
        }
#pragma unroll
        for (int n = 0; n < 4; n++) {
            const real* from = values + min(first + (n >> 1) * 8 + 2 * t + (n & 1), end - 1) * width + g * 8;
#pragma unroll
            for (int i = 0; i < D / 64; i++) v[n][i] = load16(from + i * 64);
        }
    }
};

// A warp's state for heads 2t and 2t + 1: largest score, this lane's share of the sum, and the weighted values.
template <int D> struct Attended {
    float top[2], sum[2], out[D / 16][4];

    __device__ inline void clear() {
        top[0] = top[1] = NEGATIVE;
        sum[0] = sum[1] = 0.0f;
#pragma unroll
        for (int n = 0; n < D / 16; n++) out[n][0] = out[n][1] = out[n][2] = out[n][3] = 0.0f;
    }

    __device__ inline void add(const Sixteen* q, const KeysValues<D>& at, int first, int end, float scale) {
        int g = (threadIdx.x & 31) >> 2;
        float s[4] = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll
        for (int i = 0; i < D / 32; i++) {
#pragma unroll
            for (int half = 0; half < 4; half += 2) {
                u32 a[4] = {at.k[0][i].word[half], at.k[1][i].word[half], at.k[0][i].word[half + 1],
                            at.k[1][i].word[half + 1]};
                mma(s, a, q[i].word + half);
            }
        }
        // Values 0 and 1 are of key g, 2 and 3 of key g + 8.
#pragma unroll
        for (int n = 0; n < 4; n++) s[n] = first + g + (n >> 1) * 8 < end ? s[n] * scale : NEGATIVE;
#pragma unroll
        for (int h = 0; h < 2; h++) {
            float best = fmaxf(top[h], fmaxf(s[h], s[h + 2]));
            for (int o = 4; o < 32; o <<= 1) best = fmaxf(best, __shfl_xor_sync(WARP, best, o));
            float shrink = fast_exp(top[h] - best);
            top[h] = best;
            s[h] = fast_exp(s[h] - best);
            s[h + 2] = fast_exp(s[h + 2] - best);
            sum[h] = sum[h] * shrink + s[h] + s[h + 2];
#pragma unroll
            for (int n = 0; n < D / 16; n++) {
                out[n][h] *= shrink;
                out[n][h + 2] *= shrink;
            }
        }
        u32 b[2] = {transposed(pack2(s[0], s[1])), transposed(pack2(s[2], s[3]))};
#pragma unroll
        for (int i = 0; i < D / 64; i++) {
#pragma unroll
            for (int j = 0; j < 4; j++) {
                u32 a[4] = {pair(at.v[0][i], at.v[1][i], 2 * j), pair(at.v[0][i], at.v[1][i], 2 * j + 1),
                            pair(at.v[2][i], at.v[3][i], 2 * j), pair(at.v[2][i], at.v[3][i], 2 * j + 1)};
                mma(out[i * 4 + j], a, b);
            }
        }
    }
};

// Writes the warps' states to shared memory. Ends in a barrier.
template <int D>
__device__ inline void join_warps(Attended<D>& mine, float tops[][SHARE], float sums[][SHARE], float outs[][SHARE][D]) {
    int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3;
#pragma unroll
    for (int h = 0; h < 2; h++) {
        for (int o = 4; o < 32; o <<= 1) mine.sum[h] += __shfl_xor_sync(WARP, mine.sum[h], o);
        if (g == 0) {
            tops[warp][2 * t + h] = mine.top[h];
            sums[warp][2 * t + h] = mine.sum[h];
        }
#pragma unroll
        for (int i = 0; i < D / 64; i++) {
            float4* to = (float4*)&outs[warp][2 * t + h][i * 64 + g * 8];
            float (*from)[4] = mine.out + i * 4;
            to[0] = make_float4(from[0][h], from[0][h + 2], from[1][h], from[1][h + 2]);
            to[1] = make_float4(from[2][h], from[2][h + 2], from[3][h], from[3][h + 2]);
        }
    }
    __syncthreads();
}

// Finishes the block's run. It writes the result if there is only one run, and its share otherwise.
// WOVEN: in the order in which the products of decode_product.cu read rows.
template <int D, bool WOVEN>
__device__ inline void store_run(float tops[][SHARE], float sums[][SHARE], float outs[][SHARE][D], float* partial,
                                 float* bounds, real* y, i64 head, int here, int runs, int used) {
    for (int n = threadIdx.x; n < here * D; n += blockDim.x) {
        int h = n / D, d = n % D;
        float best = NEGATIVE, total = 0.0f, value = 0.0f;
#pragma unroll
        for (int w = 0; w < DECODE_WARPS; w++) best = fmaxf(best, tops[w][h]);
#pragma unroll
        for (int w = 0; w < DECODE_WARPS; w++) {
            float weight = fast_exp(tops[w][h] - best);
            total += weight * sums[w][h];
            value += weight * outs[w][h][d];
        }
        if (used == 1) {
            y[(head + h) * D + (WOVEN ? woven(d) : d)] = put(value / total);
            continue;
        }
        i64 at = (head + h) * runs + blockIdx.z;
        partial[at * D + d] = value;
        if (d == 0) {
            bounds[at * 2] = best;
            bounds[at * 2 + 1] = total;
        }
    }
}

// Joins a row's runs for the block's heads.
template <int D, bool WOVEN>
__device__ inline void join_runs(const float* partial, const float* bounds, real* y, i64 head, int here, int runs,
                                 int used) {
    for (int n = threadIdx.x; n < here * D; n += blockDim.x) {
        i64 at = (head + n / D) * runs;
        float best = NEGATIVE, total = 0.0f, value = 0.0f;
        // Bypasses the L1 cache, which may hold a line from before another block wrote to it.
        for (int r = 0; r < used; r++) best = fmaxf(best, __ldcg(bounds + (at + r) * 2));
        for (int r = 0; r < used; r++) {
            float weight = fast_exp(__ldcg(bounds + (at + r) * 2) - best);
            total += weight * __ldcg(bounds + (at + r) * 2 + 1);
            value += weight * __ldcg(partial + (at + r) * D + n % D);
        }
        y[(head + n / D) * D + (WOVEN ? woven(n % D) : n % D)] = put(value / total);
    }
}

template <int D>
__device__ void decode_flash(const real* qkv, const real* keys, const real* values, const int* positions, float* partial,
                             float* bounds, u32* arrivals, real* y, int capacity, int heads, int kv_heads, float scale) {
    __shared__ float tops[DECODE_WARPS][SHARE], sums[DECODE_WARPS][SHARE];
    __shared__ __align__(16) float outs[DECODE_WARPS][SHARE][D];
    __shared__ bool last;
    int row = blockIdx.x, group = heads / kv_heads, parts = (group + SHARE - 1) / SHARE, runs = gridDim.z;
    int kv = blockIdx.y / parts, first = kv * group + blockIdx.y % parts * SHARE;
    int here = min(SHARE, kv * group + group - first), count = positions[row] + 1, used = (count + RUN - 1) / RUN;
    int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3;
    int key = blockIdx.z * RUN + warp * 16, end = min((int)(blockIdx.z + 1) * RUN, count);
    if ((int)blockIdx.z >= used) return;
    Attended<D> mine;
    mine.clear();
    if (key < end) {
        Sixteen q[D / 32];
        const real* from = qkv + (i64)row * (heads + 2 * kv_heads) * D + (first + min(g, here - 1)) * D;
#pragma unroll
        for (int i = 0; i < D / 32; i++) q[i] = load16(from + i * 32 + t * 8);
        i64 width = (i64)kv_heads * D, base = (i64)row * capacity * width + kv * D;
        KeysValues<D> now, next;
        now.load(keys + base, values + base, width, key, end);
        for (; key < end; key += DECODE_WARPS * 16) {
            // Loads the next values while these are in use.
            if (key + DECODE_WARPS * 16 < end) next.load(keys + base, values + base, width, key + DECODE_WARPS * 16, end);
            mine.add(q, now, key, end, scale);
            now = next;
        }
    }
    join_warps<D>(mine, tops, sums, outs);
    i64 head = (i64)row * heads + first;
    store_run<D, false>(tops, sums, outs, partial, bounds, y, head, here, runs, used);
    if (used == 1) return;
    __threadfence();
    __syncthreads();
    u32* arrived = arrivals + (i64)row * gridDim.y + blockIdx.y;
    if (threadIdx.x == 0) last = atomicAdd(arrived, 1u) == (u32)used - 1;
    __syncthreads();
    if (!last) return;
    if (threadIdx.x == 0) *arrived = 0;
    join_runs<D, false>(partial, bounds, y, head, here, runs, used);
}

#define DECODE_FLASH(D)                                                                                               \
    extern "C" __global__ void __launch_bounds__(256)                                                                 \
        decode_flash_##D(const real* qkv, const real* keys, const real* values, const int* positions, float* partial, \
                         float* bounds, u32* arrivals, real* y, int capacity, int heads, int kv_heads, float scale) { \
        decode_flash<D>(qkv, keys, values, positions, partial, bounds, arrivals, y, capacity, heads, kv_heads, scale);\
    }
#define DECODE_FLASH_OF(D) DECODE_FLASH(D)
DECODE_FLASH_OF(HEAD_DIM)
#endif
