// The attention of attention.cu on tensor cores (bf16 only): mma.sync m16n8k16 with float accumulators, online softmax.
//
// A block of 4 warps owns a tile of 64 rows of one sequence. Each warp owns 16 of them. The warps share only the tiles
// that they fetch together, and they fetch the next tile while they work on this one. Forward and dq own query rows and
// are queued by tile, then head; forward takes two heads of a group at once where it has an even number, as both read
// the same keys. dk/dv own key rows and walk all query heads of their group. Heads of 16, 32, 64, 96 or 128 values.
//
// Only the tile on the diagonal is masked, because tiles of queries and of keys begin at the same rows of a sequence.
#ifndef HOTLOOP_F32

#define TILE 64

// Tiles lie in the order in which forward and dq take them: most keys first. `nth_by_queries` of tile n names the tile
// with the nth most queries after it, the order of dk/dv. So long tiles come first, and short ones fill the end.
struct Tile {
    int row, first, last, nth_by_queries;
};

template <int D> struct Shape {
    static const int PITCH = D + 8;  // a row of a tile: 16 bytes more keep the banks apart
    static const int SIZE = TILE * PITCH;
};

// Rows [row, row + 64) of a strided matrix begin their way into a tile; rows at `last` and beyond become zeros.
// Computes one address after the other: all at once would need the registers of the accumulators.
template <int D> __device__ inline void fetch_tile(real* tile, const real* from, i64 stride, int row, int last) {
    const int ACROSS = D == 96 ? 4 : D / 8, DOWN = 128 / ACROSS;
    int r = threadIdx.x / ACROSS, c = threadIdx.x % ACROSS * 8;
    const real* at = from + (row + r) * stride + c;
    real* to = tile + r * Shape<D>::PITCH + c;
#pragma unroll
    for (int i = 0; i < TILE; i += DOWN) {
#pragma unroll
        for (int j = 0; j < D; j += ACROSS * 8) fetch16(to + i * Shape<D>::PITCH + j, at + j, row + r + i < last);
        at += DOWN * stride;
    }
}

// Where a lane reads the A fragments of 16 rows of a tile.
template <int D> __device__ inline const real* a_place(const real* tile, int row) {
    int lane = threadIdx.x & 31;
    return tile + (row + (lane & 15)) * Shape<D>::PITCH + (lane >> 4) * 8;
}

// Where a lane reads the B fragments of 16 rows of a tile, transposed: two fragments of eight rows each.
template <int D> __device__ inline const real* b_place(const real* tile, int row) {
    int lane = threadIdx.x & 31;
    return tile + (row + (lane >> 4) * 8 + (lane & 7)) * Shape<D>::PITCH + (lane >> 3 & 1) * 8;
}

template <int D> __device__ inline void load_a(u32 a[][4], const real* tile, int row) {
    const real* at = a_place<D>(tile, row);
#pragma unroll
    for (int d = 0; d < D / 16; d++) load_blocks(a[d], at + d * 16);
}

template <int N> __device__ inline void clear(float c[][4]) {
#pragma unroll
    for (int n = 0; n < N; n++) c[n][0] = c[n][1] = c[n][2] = c[n][3] = 0.0f;
}

// Computes two products at once, which hides their latency: c1 (16 x 16) = rows of A (in registers) times 16 rows of a
// tile at `row`, transposed; and the same of a second triple.
template <int D>
__device__ inline void two_products(float c1[2][4], const u32 a1[][4], const real* tile1, float c2[2][4],
                                    const u32 a2[][4], const real* tile2, int row) {
    const real *at1 = b_place<D>(tile1, row), *at2 = b_place<D>(tile2, row);
    clear<2>(c1);
    clear<2>(c2);
#pragma unroll
    for (int d = 0; d < D / 16; d++) {
        u32 b1[4], b2[4];
        load_blocks(b1, at1 + d * 16);
        load_blocks(b2, at2 + d * 16);
        mma(c1[0], a1[d], b1);
        mma(c1[1], a1[d], b1 + 2);
        mma(c2[0], a2[d], b2);
        mma(c2[1], a2[d], b2 + 2);
    }
}

// out (16 x D) += a (16 x 16) times 16 rows of a tile at `row`.
template <int D> __device__ inline void accumulate(float out[][4], const u32* a, const real* tile, int row) {
    // Blocks 0 and 1 are rows 0-7 and 8-15 of eight columns, blocks 2 and 3 of the next eight.
    const real* at = a_place<D>(tile, row);
#pragma unroll
    for (int d = 0; d < D / 16; d++) {
        u32 b[4];
        load_transposed(b, at + d * 16);
        mma(out[2 * d], a, b);
        mma(out[2 * d + 1], a, b + 2);
    }
}

// Stores 16 rows of D values, as accumulators hold them, times a factor for rows g and g + 8.
template <int D>
__device__ inline void store_rows(real* to, i64 stride, int row, int last, float out[][4], float low, float high) {
    int g = (threadIdx.x & 31) >> 2, t = threadIdx.x & 3;
#pragma unroll
    for (int d = 0; d < D / 8; d++) {
        real* at = to + (i64)(row + g) * stride + d * 8 + 2 * t;
        if (row + g < last) *(u32*)at = pack2(out[d][0] * low, out[d][1] * low);
        if (row + g + 8 < last) *(u32*)(at + 8 * stride) = pack2(out[d][2] * high, out[d][3] * high);
    }
}

// One tile of keys for 16 query rows of P heads. On the diagonal, chunks of 16 keys after all of these rows are left
// out, and keys after a row are masked.
template <int D, int P, bool DIAGONAL>
__device__ inline void attend_tile(float out[][D / 8][4], float top[][2], float sum[][2], const real* queries,
                                   const real* keys, const real* values, float factor) {
    int warp = threadIdx.x >> 5, g = (threadIdx.x & 31) >> 2, t = threadIdx.x & 3;
    float s[P][TILE / 8][4];
#pragma unroll
    for (int p = 0; p < P; p++) clear<TILE / 8>(s[p]);
    const real *a_at = a_place<D>(queries, warp * 16), *b_at = b_place<D>(keys, 0);
#pragma unroll
    for (int d = 0; d < D / 16; d++) {
        u32 a[P][4];
#pragma unroll
        for (int p = 0; p < P; p++) load_blocks(a[p], a_at + p * Shape<D>::SIZE + d * 16);
#pragma unroll
        for (int n = 0; n < TILE / 16; n++) {
            if (DIAGONAL && n > warp) break;
            u32 b[4];
            load_blocks(b, b_at + n * 16 * Shape<D>::PITCH + d * 16);
#pragma unroll
            for (int p = 0; p < P; p++) {
                mma(s[p][2 * n], a[p], b);
                mma(s[p][2 * n + 1], a[p], b + 2);
            }
        }
    }
#pragma unroll
    for (int p = 0; p < P; p++) {
        float best[2] = {top[p][0], top[p][1]};
#pragma unroll
        for (int n = 0; n < TILE / 8; n++) {
#pragma unroll
            for (int j = 0; j < 4; j++) {
                int key = n * 8 + 2 * t + (j & 1), row = warp * 16 + g + (j & 2) * 4;
                if (DIAGONAL && key > row) s[p][n][j] = NEGATIVE;
                best[j >> 1] = fmaxf(best[j >> 1], s[p][n][j]);
            }
        }
#pragma unroll
        for (int r = 0; r < 2; r++) {
            best[r] = fmaxf(best[r], __shfl_xor_sync(WARP, best[r], 1));
            best[r] = fmaxf(best[r], __shfl_xor_sync(WARP, best[r], 2));
            float shrink = power2((top[p][r] - best[r]) * factor);
            sum[p][r] *= shrink;
            top[p][r] = best[r];
#pragma unroll
            for (int d = 0; d < D / 8; d++) {
                out[p][d][2 * r] *= shrink;
                out[p][d][2 * r + 1] *= shrink;
            }
            best[r] *= factor;
        }
#pragma unroll
        for (int n = 0; n < TILE / 8; n++) {
#pragma unroll
            for (int j = 0; j < 4; j++) {
                s[p][n][j] = power2(s[p][n][j] * factor - best[j >> 1]);
                sum[p][j >> 1] += s[p][n][j];
            }
        }
    }
    const real* v_at = a_place<D>(values, 0);
#pragma unroll
    for (int n = 0; n < TILE / 16; n++) {
        if (DIAGONAL && n > warp) break;
        u32 a[P][4];
#pragma unroll
        for (int p = 0; p < P; p++) round_a(a[p], s[p] + 2 * n);
#pragma unroll
        for (int d = 0; d < D / 16; d++) {
            u32 b[4];
            load_transposed(b, v_at + n * 16 * Shape<D>::PITCH + d * 16);
#pragma unroll
            for (int p = 0; p < P; p++) {
                mma(out[p][2 * d], a[p], b);
                mma(out[p][2 * d + 1], a[p], b + 2);
            }
        }
    }
}

// Shared memory: P tiles of queries, then twice a tile of keys and one of values.
template <int D, int P>
__device__ void flash_forward(const real* qkv, const Tile* tiles, real* y, float* lse, int heads, int kv_heads,
                              float scale, real* memory) {
    const int SIZE = Shape<D>::SIZE;
    Tile tile = tiles[blockIdx.x / (heads / P)];
    int head = blockIdx.x % (heads / P) * P, kv = head / (heads / kv_heads), warp = threadIdx.x >> 5;
    int g = (threadIdx.x & 31) >> 2, t = threadIdx.x & 3, mine = tile.row + warp * 16;
    i64 stride = (i64)(heads + 2 * kv_heads) * D;
    const real *keys = qkv + (heads + kv) * D, *values = keys + kv_heads * D;
    real *queries = memory, *here = memory + P * SIZE, *next = here + 2 * SIZE;
#pragma unroll
    for (int p = 0; p < P; p++) {
        fetch_tile<D>(queries + p * SIZE, qkv + (head + p) * D, stride, tile.row, tile.last);
    }
    fetch_tile<D>(here, keys, stride, tile.first, tile.last);
    fetch_tile<D>(here + SIZE, values, stride, tile.first, tile.last);
    float out[P][D / 8][4], top[P][2], sum[P][2], factor = scale * LOG2E;
#pragma unroll
    for (int p = 0; p < P; p++) {
        clear<D / 8>(out[p]);
        top[p][0] = top[p][1] = NEGATIVE;
        sum[p][0] = sum[p][1] = 0.0f;
    }
    for (int base = tile.first; base < tile.row; base += TILE) {
        wait_fetched();
        __syncthreads();
        fetch_tile<D>(next, keys, stride, base + TILE, tile.last);
        fetch_tile<D>(next + SIZE, values, stride, base + TILE, tile.last);
        attend_tile<D, P, false>(out, top, sum, queries, here, here + SIZE, factor);
        real* swap = here;
        here = next;
        next = swap;
    }
    wait_fetched();
    __syncthreads();
    attend_tile<D, P, true>(out, top, sum, queries, here, here + SIZE, factor);
#pragma unroll
    for (int p = 0; p < P; p++) {
#pragma unroll
        for (int r = 0; r < 2; r++) {
            sum[p][r] += __shfl_xor_sync(WARP, sum[p][r], 1);
            sum[p][r] += __shfl_xor_sync(WARP, sum[p][r], 2);
            int row = mine + g + 8 * r;
            if (t == 0 && row < tile.last) lse[(i64)row * heads + head + p] = top[p][r] * scale + logf(sum[p][r]);
        }
        real* to = y + (head + p) * D;
        store_rows<D>(to, (i64)heads * D, mine, tile.last, out[p], 1.0f / sum[p][0], 1.0f / sum[p][1]);
    }
}

// Shared memory: twice a tile of keys and one of values.
template <int D>
__device__ void flash_dq(const real* qkv, const Tile* tiles, const real* dy, const float* lse, const float* delta,
                         real* d_qkv, int heads, int kv_heads, float scale, real* memory) {
    const int SIZE = Shape<D>::SIZE;
    Tile tile = tiles[blockIdx.x / heads];
    int head = blockIdx.x % heads, kv = head / (heads / kv_heads), warp = threadIdx.x >> 5;
    int g = (threadIdx.x & 31) >> 2, t = threadIdx.x & 3, mine = tile.row + warp * 16;
    i64 stride = (i64)(heads + 2 * kv_heads) * D;
    const real *keys = qkv + (heads + kv) * D, *values = keys + kv_heads * D;
    real *here = memory, *next = memory + 2 * SIZE;
    fetch_tile<D>(next, qkv + head * D, stride, tile.row, tile.last);
    fetch_tile<D>(next + SIZE, dy + head * D, (i64)heads * D, tile.row, tile.last);
    fetch_tile<D>(here, keys, stride, tile.first, tile.last);
    fetch_tile<D>(here + SIZE, values, stride, tile.first, tile.last);
    float out[D / 8][4], norm[2], along[2], factor = scale * LOG2E;
    clear<D / 8>(out);
#pragma unroll
    for (int r = 0; r < 2; r++) {
        int row = min(mine + g + 8 * r, tile.last - 1);
        norm[r] = lse[(i64)row * heads + head] * LOG2E;
        along[r] = delta[(i64)row * heads + head];
    }
    wait_fetched();
    __syncthreads();
    u32 q[D / 16][4], e[D / 16][4];
    load_a<D>(q, next, warp * 16);
    load_a<D>(e, next + SIZE, warp * 16);
    for (int base = tile.first; base <= tile.row; base += TILE) {
        bool diagonal = base == tile.row;
        wait_fetched();
        __syncthreads();
        if (!diagonal) {
            fetch_tile<D>(next, keys, stride, base + TILE, tile.last);
            fetch_tile<D>(next + SIZE, values, stride, base + TILE, tile.last);
        }
        int chunks = diagonal ? warp + 1 : TILE / 16;
#pragma unroll 1
        for (int n = 0; n < chunks; n++) {
            float s[2][4], dp[2][4];
            two_products<D>(s, q, here, dp, e, here + SIZE, n * 16);
            if (diagonal && n == warp) {
#pragma unroll
                for (int j = 0; j < 8; j++) {
                    if ((j >> 2) * 8 + 2 * t + (j & 1) > g + (j & 2) * 4) s[j >> 2][j & 3] = NEGATIVE;
                }
            }
#pragma unroll
            for (int j = 0; j < 8; j++) {
                int r = (j & 2) >> 1;
                float p = power2(s[j >> 2][j & 3] * factor - norm[r]);
                s[j >> 2][j & 3] = p * (dp[j >> 2][j & 3] - along[r]);
            }
            u32 a[4];
            round_a(a, s);
            accumulate<D>(out, a, here, n * 16);
        }
        real* swap = here;
        here = next;
        next = swap;
    }
    store_rows<D>(d_qkv + head * D, stride, mine, tile.last, out, scale, scale);
}

// Shared memory: twice a tile of queries and one of their outputs' gradients.
template <int D>
__device__ void flash_dkv(const real* qkv, const Tile* tiles, const real* dy, const float* lse, const float* delta,
                          real* d_qkv, int heads, int kv_heads, float scale, real* memory) {
    const int SIZE = Shape<D>::SIZE;
    // Of each query (log-sum-exp, delta), for this tile and the next.
    __shared__ __align__(16) float facts[2][2 * TILE];
    Tile tile = tiles[tiles[blockIdx.x / kv_heads].nth_by_queries];
    int kv = blockIdx.x % kv_heads, group = heads / kv_heads, warp = threadIdx.x >> 5;
    int g = (threadIdx.x & 31) >> 2, t = threadIdx.x & 3, mine = tile.row + warp * 16;
    i64 stride = (i64)(heads + 2 * kv_heads) * D;
    auto fetch = [&](int stage, int head, int base) {
        real* to = memory + stage * 2 * SIZE;
        fetch_tile<D>(to, qkv + head * D, stride, base, tile.last);
        fetch_tile<D>(to + SIZE, dy + head * D, (i64)heads * D, base, tile.last);
        int n = threadIdx.x % TILE, second = threadIdx.x / TILE;
        i64 row = min(base + n, tile.last - 1);
        fetch4(facts[stage] + 2 * n + second, (second ? delta : lse) + row * heads + head);
    };
    real* other = memory + 2 * SIZE;
    fetch_tile<D>(other, qkv + (heads + kv) * D, stride, tile.row, tile.last);
    fetch_tile<D>(other + SIZE, qkv + (heads + kv_heads + kv) * D, stride, tile.row, tile.last);
    fetch(0, kv * group, tile.row);
    float dk[D / 8][4], dv[D / 8][4], factor = scale * LOG2E;
    clear<D / 8>(dk);
    clear<D / 8>(dv);
    wait_fetched();
    __syncthreads();
    u32 k[D / 16][4], v[D / 16][4];
    load_a<D>(k, other, warp * 16);
    load_a<D>(v, other + SIZE, warp * 16);
    int head = kv * group, base = tile.row, stage = 0;
    while (head < (kv + 1) * group) {
        wait_fetched();
        __syncthreads();
        int next_base = base + TILE, next_head = head;
        if (next_base >= tile.last) {
            next_base = tile.row;
            next_head++;
        }
        if (next_head < (kv + 1) * group) fetch(stage ^ 1, next_head, next_base);
        const real *queries = memory + stage * 2 * SIZE, *d_out = queries + SIZE;
        bool diagonal = base == tile.row;
        int chunks = min(TILE / 16, (tile.last - base + 15) / 16);
#pragma unroll 1
        for (int n = diagonal ? warp : 0; n < chunks; n++) {
            // Rows are keys, columns are queries: the transposes of what dq computes.
            float s[2][4], dp[2][4];
            two_products<D>(s, k, queries, dp, v, d_out, n * 16);
            if ((diagonal && n == warp) || base + n * 16 + 16 > tile.last) {
#pragma unroll
                for (int j = 0; j < 8; j++) {
                    int row = base + n * 16 + (j >> 2) * 8 + 2 * t + (j & 1), key = mine + g + (j & 2) * 4;
                    if (key > row || row >= tile.last) s[j >> 2][j & 3] = NEGATIVE;
                }
            }
#pragma unroll
            for (int h = 0; h < 2; h++) {
                float4 fact = *(const float4*)(facts[stage] + 2 * (n * 16 + h * 8 + 2 * t));
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    float p = power2(s[h][j] * factor - (j & 1 ? fact.z : fact.x) * LOG2E);
                    s[h][j] = p;
                    dp[h][j] = p * (dp[h][j] - (j & 1 ? fact.w : fact.y));
                }
            }
            u32 a[4];
            round_a(a, s);
            accumulate<D>(dv, a, d_out, n * 16);
            round_a(a, dp);
            accumulate<D>(dk, a, queries, n * 16);
        }
        base = next_base;
        head = next_head;
        stage ^= 1;
    }
    store_rows<D>(d_qkv + (heads + kv) * D, stride, mine, tile.last, dk, scale, scale);
    store_rows<D>(d_qkv + (heads + kv_heads + kv) * D, stride, mine, tile.last, dv, 1.0f, 1.0f);
}

// The bounds are what registers allow: the accumulators of dk/dv and of two heads leave room for two blocks an SM.
#define FLASH(D)                                                                                                      \
    extern "C" __global__ void __launch_bounds__(128, 2)                                                              \
        flash_forward_##D(const real* qkv, const Tile* tiles, real* y, float* lse, int heads, int kv_heads,           \
                          float scale) {                                                                              \
        DYNAMIC_SHARED(real, memory);                                                                                 \
        flash_forward<D, 1>(qkv, tiles, y, lse, heads, kv_heads, scale, memory);                                      \
    }                                                                                                                 \
    extern "C" __global__ void __launch_bounds__(128, 2)                                                              \
        flash_forward_pair_##D(const real* qkv, const Tile* tiles, real* y, float* lse, int heads, int kv_heads,      \
                               float scale) {                                                                         \
        DYNAMIC_SHARED(real, memory);                                                                                 \
        flash_forward<D, 2>(qkv, tiles, y, lse, heads, kv_heads, scale, memory);                                      \
    }                                                                                                                 \
    extern "C" __global__ void __launch_bounds__(128, 3)                                                              \
        flash_dq_##D(const real* qkv, const Tile* tiles, const real* dy, const float* lse, const float* delta,        \
                     real* d_qkv, int heads, int kv_heads, float scale) {                                             \
        DYNAMIC_SHARED(real, memory);                                                                                 \
        flash_dq<D>(qkv, tiles, dy, lse, delta, d_qkv, heads, kv_heads, scale, memory);                               \
    }                                                                                                                 \
    extern "C" __global__ void __launch_bounds__(128, 2)                                                              \
        flash_dkv_##D(const real* qkv, const Tile* tiles, const real* dy, const float* lse, const float* delta,       \
                      real* d_qkv, int heads, int kv_heads, float scale) {                                            \
        DYNAMIC_SHARED(real, memory);                                                                                 \
        flash_dkv<D>(qkv, tiles, dy, lse, delta, d_qkv, heads, kv_heads, scale, memory);                              \
    }

// The module is compiled for one model: HEAD_DIM names its heads' width where it is one of the above.
#ifdef HEAD_DIM
#define FLASH_OF(D) FLASH(D)
FLASH_OF(HEAD_DIM)
#endif
#endif
