// The same attention on tensor cores (bf16 only): mma.sync m16n8k16 with float accumulators, online softmax.
//
// A block of 4 warps owns a tile of 64 rows of one sequence; each warp owns 16 of them and never talks to the others
// but through the tiles they load together. `tiles[n]` is (first row of the tile, first row of its sequence, end of its
// sequence, 0). Forward and dq own query rows: grid (tiles, heads). dk/dv own key rows and walk all query heads of
// their group: grid (tiles, kv_heads). Heads of 16, 32, 64, 96 or 128 values.
//
// Fragments, with g = lane / 4 and t = lane % 4 (PTX ISA, m16n8k16):
//   A 16x16: a0 (g, 2t) a1 (g + 8, 2t) a2 (g, 2t + 8) a3 (g + 8, 2t + 8), two neighbouring columns a register
//   B 16x8:  b0 (2t, g) b1 (2t + 8, g), two neighbouring rows a register
//   C 16x8:  c0 c1 (g, 2t) c2 c3 (g + 8, 2t)
// So two C tiles side by side are an A tile after rounding, which is how probabilities enter the second product.
#ifndef HOTLOOP_F32

#define TILE 64

struct Tile {
    int row, first, last, unused;
};

// c += a b.
__device__ inline void mma(float* c, const u32* a, const u32* b) {
#ifdef HOTLOOP_EMULATED
    emulate_mma(c, a, b);
#else
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

// Four 8x8 blocks, each transposed: lane l names row l % 8 of block l / 8, and gets rows 2t, 2t + 1 of column g of all.
__device__ inline void load_transposed(u32* r, const real* row) {
#ifdef HOTLOOP_EMULATED
    emulate_ldmatrix_trans(r, row);
#else
    u32 at = (u32)__cvta_generic_to_shared(row);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");
#endif
}

template <int D> struct Shape {
    static const int PITCH = D + 8;  // a row of a tile: 16 bytes more keep the banks apart
    static const int BYTES = TILE * PITCH * 2;
};

// Rows [row, row + 64) of a strided matrix into a tile; rows at `last` and beyond become zeros.
template <int D> __device__ inline void load_tile(real* tile, const real* from, i64 stride, int row, int last) {
    for (int n = threadIdx.x; n < TILE * (D / 8); n += blockDim.x) {
        int r = n / (D / 8), c = n % (D / 8) * 8;
        uint4 value = make_uint4(0, 0, 0, 0);
        if (row + r < last) value = *(const uint4*)(from + (i64)(row + r) * stride + c);
        *(uint4*)(tile + r * Shape<D>::PITCH + c) = value;
    }
}

__device__ inline u32 word(const real* at) { return *(const u32*)at; }

// The A fragment of 16 rows at `row`, 16 columns at `column` of a tile.
template <int D> __device__ inline void load_a(u32* a, const real* tile, int row, int column) {
    int g = (threadIdx.x & 31) >> 2, t = threadIdx.x & 3;
    const real* at = tile + (row + g) * Shape<D>::PITCH + column + 2 * t;
    a[0] = word(at);
    a[1] = word(at + 8 * Shape<D>::PITCH);
    a[2] = word(at + 8);
    a[3] = word(at + 8 * Shape<D>::PITCH + 8);
}

// c[2] (16 x 16) = rows of A (in registers, D / 16 fragments) times 16 rows of a tile at `row`, transposed.
template <int D> __device__ inline void row_products(float c[2][4], const u32 a[][4], const real* tile, int row) {
    int g = (threadIdx.x & 31) >> 2, t = threadIdx.x & 3;
#pragma unroll
    for (int n = 0; n < 2; n++) {
        c[n][0] = c[n][1] = c[n][2] = c[n][3] = 0.0f;
        const real* at = tile + (row + n * 8 + g) * Shape<D>::PITCH + 2 * t;
#pragma unroll
        for (int d = 0; d < D / 16; d++) {
            u32 b[2] = {word(at + d * 16), word(at + d * 16 + 8)};
            mma(c[n], a[d], b);
        }
    }
}

// The same with the 16 rows of A read from a tile too.
template <int D>
__device__ inline void tile_products(float c[2][4], const real* a_tile, int a_row, const real* tile, int row) {
    int g = (threadIdx.x & 31) >> 2, t = threadIdx.x & 3;
#pragma unroll
    for (int n = 0; n < 2; n++) c[n][0] = c[n][1] = c[n][2] = c[n][3] = 0.0f;
    const real* at = tile + (row + g) * Shape<D>::PITCH + 2 * t;
#pragma unroll
    for (int d = 0; d < D / 16; d++) {
        u32 a[4];
        load_a<D>(a, a_tile, a_row, d * 16);
#pragma unroll
        for (int n = 0; n < 2; n++) {
            const real* from = at + n * 8 * Shape<D>::PITCH + d * 16;
            u32 b[2] = {word(from), word(from + 8)};
            mma(c[n], a, b);
        }
    }
}

// out (16 x D) += a (16 x 16) times 16 rows of a tile at `row`.
template <int D> __device__ inline void accumulate(float out[][4], const u32* a, const real* tile, int row) {
    int lane = threadIdx.x & 31;
    // Blocks 0 and 1 are rows 0-7 and 8-15 of eight columns, blocks 2 and 3 of the next eight.
    const real* at = tile + (row + (lane & 15)) * Shape<D>::PITCH + (lane >> 4) * 8;
#pragma unroll
    for (int d = 0; d < D / 16; d++) {
        u32 b[4];
        load_transposed(b, at + d * 16);
        mma(out[2 * d], a, b);
        mma(out[2 * d + 1], a, b + 2);
    }
}

__device__ inline void round_a(u32* a, float c[2][4]) {
    a[0] = pack2(c[0][0], c[0][1]);
    a[1] = pack2(c[0][2], c[0][3]);
    a[2] = pack2(c[1][0], c[1][1]);
    a[3] = pack2(c[1][2], c[1][3]);
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

template <int D>
__device__ void flash_forward(const real* qkv, const Tile* tiles, real* y, float* lse, int heads, int kv_heads,
                              float scale, real* memory) {
    real *keys = memory, *values = memory + TILE * Shape<D>::PITCH;
    Tile tile = tiles[blockIdx.x];
    int head = blockIdx.y, kv = head / (heads / kv_heads), warp = threadIdx.x >> 5;
    int g = (threadIdx.x & 31) >> 2, t = threadIdx.x & 3, mine = tile.row + warp * 16;
    i64 stride = (i64)(heads + 2 * kv_heads) * D;
    u32 q[D / 16][4];
    load_tile<D>(keys, qkv + head * D, stride, tile.row, tile.last);
    __syncthreads();
#pragma unroll
    for (int d = 0; d < D / 16; d++) load_a<D>(q[d], keys, warp * 16, d * 16);
    float out[D / 8][4], top[2] = {NEGATIVE, NEGATIVE}, sum[2] = {0.0f, 0.0f};
#pragma unroll
    for (int d = 0; d < D / 8; d++) out[d][0] = out[d][1] = out[d][2] = out[d][3] = 0.0f;
    for (int base = tile.first; base < min(tile.row + TILE, tile.last); base += TILE) {
        __syncthreads();
        load_tile<D>(keys, qkv + (heads + kv) * D, stride, base, tile.last);
        load_tile<D>(values, qkv + (heads + kv_heads + kv) * D, stride, base, tile.last);
        __syncthreads();
        float s[TILE / 16][2][4], best[2] = {top[0], top[1]};
#pragma unroll
        for (int n = 0; n < TILE / 16; n++) {
            row_products<D>(s[n], q, keys, n * 16);
#pragma unroll
            for (int j = 0; j < 8; j++) {
                int key = base + n * 16 + (j >> 2) * 8 + 2 * t + (j & 1), row = mine + g + (j & 2) * 4;
                float* at = &s[n][j >> 2][j & 3];
                *at = key <= row ? *at * scale : NEGATIVE;
                best[(j & 2) >> 1] = fmaxf(best[(j & 2) >> 1], *at);
            }
        }
#pragma unroll
        for (int r = 0; r < 2; r++) {
            best[r] = fmaxf(best[r], __shfl_xor_sync(WARP, best[r], 1));
            best[r] = fmaxf(best[r], __shfl_xor_sync(WARP, best[r], 2));
            float shrink = __expf(top[r] - best[r]);
            sum[r] *= shrink;
            top[r] = best[r];
#pragma unroll
            for (int d = 0; d < D / 8; d++) {
                out[d][2 * r] *= shrink;
                out[d][2 * r + 1] *= shrink;
            }
        }
#pragma unroll
        for (int n = 0; n < TILE / 16; n++) {
            u32 a[4];
#pragma unroll
            for (int j = 0; j < 8; j++) {
                float* at = &s[n][j >> 2][j & 3];
                *at = __expf(*at - top[(j & 2) >> 1]);
                sum[(j & 2) >> 1] += *at;
            }
            round_a(a, s[n]);
            accumulate<D>(out, a, values, n * 16);
        }
    }
#pragma unroll
    for (int r = 0; r < 2; r++) {
        sum[r] += __shfl_xor_sync(WARP, sum[r], 1);
        sum[r] += __shfl_xor_sync(WARP, sum[r], 2);
        int row = mine + g + 8 * r;
        if (t == 0 && row < tile.last) lse[(i64)row * heads + head] = top[r] + logf(sum[r]);
    }
    store_rows<D>(y + head * D, (i64)heads * D, mine, tile.last, out, 1.0f / sum[0], 1.0f / sum[1]);
}

template <int D>
__device__ void flash_dq(const real* qkv, const Tile* tiles, const real* dy, const float* lse, const float* delta,
                         real* d_qkv, int heads, int kv_heads, float scale, real* memory) {
    real *keys = memory, *values = memory + TILE * Shape<D>::PITCH;
    Tile tile = tiles[blockIdx.x];
    int head = blockIdx.y, kv = head / (heads / kv_heads), warp = threadIdx.x >> 5;
    int g = (threadIdx.x & 31) >> 2, t = threadIdx.x & 3, mine = tile.row + warp * 16;
    i64 stride = (i64)(heads + 2 * kv_heads) * D;
    load_tile<D>(keys, qkv + head * D, stride, tile.row, tile.last);
    load_tile<D>(values, dy + head * D, (i64)heads * D, tile.row, tile.last);
    __syncthreads();
    u32 q[D / 16][4], e[D / 16][4];
#pragma unroll
    for (int d = 0; d < D / 16; d++) {
        load_a<D>(q[d], keys, warp * 16, d * 16);
        load_a<D>(e[d], values, warp * 16, d * 16);
    }
    float out[D / 8][4], norm[2], along[2];
#pragma unroll
    for (int d = 0; d < D / 8; d++) out[d][0] = out[d][1] = out[d][2] = out[d][3] = 0.0f;
#pragma unroll
    for (int r = 0; r < 2; r++) {
        int row = min(mine + g + 8 * r, tile.last - 1);
        norm[r] = lse[(i64)row * heads + head];
        along[r] = delta[(i64)row * heads + head];
    }
    for (int base = tile.first; base < min(tile.row + TILE, tile.last); base += TILE) {
        __syncthreads();
        load_tile<D>(keys, qkv + (heads + kv) * D, stride, base, tile.last);
        load_tile<D>(values, qkv + (heads + kv_heads + kv) * D, stride, base, tile.last);
        __syncthreads();
#pragma unroll 1
        for (int n = 0; n < TILE / 16; n++) {
            float s[2][4], dp[2][4];
            row_products<D>(s, q, keys, n * 16);
            row_products<D>(dp, e, values, n * 16);
#pragma unroll
            for (int j = 0; j < 8; j++) {
                int key = base + n * 16 + (j >> 2) * 8 + 2 * t + (j & 1), row = mine + g + (j & 2) * 4;
                int r = (j & 2) >> 1;
                float p = key <= row ? __expf(s[j >> 2][j & 3] * scale - norm[r]) : 0.0f;
                s[j >> 2][j & 3] = p * (dp[j >> 2][j & 3] - along[r]);
            }
            u32 a[4];
            round_a(a, s);
            accumulate<D>(out, a, keys, n * 16);
        }
    }
    store_rows<D>(d_qkv + head * D, stride, mine, tile.last, out, scale, scale);
}

template <int D>
__device__ void flash_dkv(const real* qkv, const Tile* tiles, const real* dy, const float* lse, const float* delta,
                          real* d_qkv, int heads, int kv_heads, float scale, real* memory) {
    const int SIZE = TILE * Shape<D>::PITCH;
    real *keys = memory, *values = memory + SIZE, *queries = memory + 2 * SIZE, *d_out = memory + 3 * SIZE;
    __shared__ float norms[TILE], alongs[TILE];
    Tile tile = tiles[blockIdx.x];
    int kv = blockIdx.y, group = heads / kv_heads, warp = threadIdx.x >> 5;
    int g = (threadIdx.x & 31) >> 2, t = threadIdx.x & 3, mine = tile.row + warp * 16;
    i64 stride = (i64)(heads + 2 * kv_heads) * D;
    load_tile<D>(keys, qkv + (heads + kv) * D, stride, tile.row, tile.last);
    load_tile<D>(values, qkv + (heads + kv_heads + kv) * D, stride, tile.row, tile.last);
    float dk[D / 8][4], dv[D / 8][4];
#pragma unroll
    for (int d = 0; d < D / 8; d++) {
        dk[d][0] = dk[d][1] = dk[d][2] = dk[d][3] = 0.0f;
        dv[d][0] = dv[d][1] = dv[d][2] = dv[d][3] = 0.0f;
    }
    for (int head = kv * group; head < (kv + 1) * group; head++) {
        for (int base = tile.row; base < tile.last; base += TILE) {
            __syncthreads();
            load_tile<D>(queries, qkv + head * D, stride, base, tile.last);
            load_tile<D>(d_out, dy + head * D, (i64)heads * D, base, tile.last);
            if (threadIdx.x < TILE) {
                int row = min(base + (int)threadIdx.x, tile.last - 1);
                norms[threadIdx.x] = lse[(i64)row * heads + head];
                alongs[threadIdx.x] = delta[(i64)row * heads + head];
            }
            __syncthreads();
#pragma unroll 1
            for (int n = 0; n < TILE / 16; n++) {
                // Rows are keys, columns are queries: the transposes of what dq computes.
                float s[2][4], dp[2][4];
                tile_products<D>(s, keys, warp * 16, queries, n * 16);
                tile_products<D>(dp, values, warp * 16, d_out, n * 16);
#pragma unroll
                for (int j = 0; j < 8; j++) {
                    int column = n * 16 + (j >> 2) * 8 + 2 * t + (j & 1), row = base + column;
                    int key = mine + g + (j & 2) * 4;
                    bool seen = key <= row && row < tile.last;
                    float p = seen ? __expf(s[j >> 2][j & 3] * scale - norms[column]) : 0.0f;
                    s[j >> 2][j & 3] = p;
                    dp[j >> 2][j & 3] = p * (dp[j >> 2][j & 3] - alongs[column]);
                }
                u32 a[4];
                round_a(a, s);
                accumulate<D>(dv, a, d_out, n * 16);
                round_a(a, dp);
                accumulate<D>(dk, a, queries, n * 16);
            }
        }
    }
    store_rows<D>(d_qkv + (heads + kv) * D, stride, mine, tile.last, dk, scale, scale);
    store_rows<D>(d_qkv + (heads + kv_heads + kv) * D, stride, mine, tile.last, dv, 1.0f, 1.0f);
}

#define FLASH(D)                                                                                                      \
    extern "C" __global__ void __launch_bounds__(128)                                                                 \
        flash_forward_##D(const real* qkv, const Tile* tiles, real* y, float* lse, int heads, int kv_heads,           \
                          float scale) {                                                                              \
        DYNAMIC_SHARED(real, memory);                                                                                 \
        flash_forward<D>(qkv, tiles, y, lse, heads, kv_heads, scale, memory);                                         \
    }                                                                                                                 \
    extern "C" __global__ void __launch_bounds__(128)                                                                 \
        flash_dq_##D(const real* qkv, const Tile* tiles, const real* dy, const float* lse, const float* delta,        \
                     real* d_qkv, int heads, int kv_heads, float scale) {                                             \
        DYNAMIC_SHARED(real, memory);                                                                                 \
        flash_dq<D>(qkv, tiles, dy, lse, delta, d_qkv, heads, kv_heads, scale, memory);                               \
    }                                                                                                                 \
    extern "C" __global__ void __launch_bounds__(128)                                                                 \
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
