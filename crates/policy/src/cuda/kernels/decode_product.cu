// Products of a decode step for at most 64 rows (bf16): y = x W'. The layer's operations before and after a product are
// fused into it. W is (outputs, inputs), as in the arena.
//
// Rows are the A of mma.sync m16n8k16 and weights are the B. A warp owns 32 outputs and loads 32 inputs at a time from
// memory into registers. The 16 bytes that a lane loads are two fragments without any shuffling. For this the rows are
// woven (tensor.cu). STEP_DEPTH chunks of weights are in flight.
//
//   warps of a block: (groups + lows) x across; `across` warps share the chunks of the same outputs and join at the end
//   grid: (tiles, slices); a block takes a tile of 32 * groups outputs and a slice of the inputs
//   the slices of a tile form a cluster: each block finishes a share of the rows, from the sums of all blocks
//   shared memory: the slice of all rows, and later, in the same place, the sums of each of `across` warps
//
// Each warp normalises the rows that it fetched in shared memory, and rounds them as the trainer does.
//
// An adapter needs no kernel of its own, and no block waits for another. A sum over a slice of the inputs is linear, so
// every block also computes its slice's share of x A' (in `lows` more groups of warps, whose weights are A's rows) and
// multiplies it by B at the end. A is small: each tile reads it again from the L2 cache.
//
// Code before `step_wait` reads weights only, so a kernel can run that far while the previous kernel ends.
#if !defined(HOTLOOP_F32) && defined(HEAD_DIM) && HEAD_DIM % 64 == 0 && HEAD_DIM <= 128

struct StepWeights {
    Sixteen row[4];

    __device__ inline void load(const real* from, const u32* rows, int chunk) {
        u32 k = chunk * 32 + (threadIdx.x & 3) * 8;
        uint4 at = *(const uint4*)rows;
        row[0] = load_weights(from + (at.x + k));
        row[1] = load_weights(from + (at.y + k));
        row[2] = load_weights(from + (at.z + k));
        row[3] = load_weights(from + (at.w + k));
    }
};

// c (16 MT rows x 32 outputs) += a chunk of woven rows times weights. `x` is the lane's place of `step_lane`.
template <int MT> __device__ inline void step_mma(float c[MT][4][4], const Sixteen* w, const real* x, int pitch) {
#pragma unroll
    for (int half = 0; half < 2; half++) {
#pragma unroll
        for (int m = 0; m < MT; m++) {
            u32 a[4];
            load_blocks(a, x + m * 16 * pitch + half * 16);
#pragma unroll
            for (int n = 0; n < 4; n++) mma(c[m][n], a, w[n].word + 2 * half);
        }
    }
}

// Values from one row to the next in shared memory: 16 bytes more than a multiple of 64 keep eight rows' banks apart.
__device__ inline int step_pitch(int chunks) { return chunks * 32 + 8; }

// Floats from one row of sums to the next: lanes of four rows store two each, and all meet banks of their own.
__device__ inline int step_sum_pitch(int groups) { return groups * 32 + 8; }

// Which of rows' 16 bytes a lane names to `load_blocks`: the A of mma.sync is rows 0-7 and 8-15 of the first eight values
// of a half, then of the second.
__device__ inline int step_lane(int pitch) {
    int lane = threadIdx.x & 31;
    return (lane & 15) * pitch + (lane >> 4) * 8;
}

// 1 / rms of every row: four lanes sum up the parts of a row, all of which are on their way at once. A barrier must follow.
__device__ inline void step_inverse(const Product& p, float* inverse) {
    const int LANES = 4, AT_ONCE = 8;
    // Whole warps, even beyond the last row, because they shuffle.
    for (int n = threadIdx.x; n < STEP_ROWS * LANES; n += blockDim.x) {
        int row = n / LANES;
        float square = 0.0f;
        for (int first = n % LANES; first < p.square_parts; first += LANES * AT_ONCE) {
            float part[AT_ONCE];
#pragma unroll
            for (int j = 0; j < AT_ONCE; j++) {
                int i = first + j * LANES;
                part[j] = row < p.rows && i < p.square_parts ? __ldcg(p.squares + row * p.square_parts + i) : 0.0f;
            }
#pragma unroll
            for (int j = 0; j < AT_ONCE; j++) square += part[j];
        }
        square += __shfl_xor_sync(WARP, square, 1);
        square += __shfl_xor_sync(WARP, square, 2);
        if (n % LANES == 0 && row < p.rows) inverse[row] = 1.0f / sqrtf(square / p.inputs + p.eps);
    }
}

// All rows' chunks [begin, end) of the slice that starts at `first` begin their way into shared memory; rows that there
// are not are zeros. A warp takes every so-maniest row, a lane eight values of it.
template <int ROWS>
__device__ inline void step_fetch(const Product& p, real* xs, int pitch, int first, int begin, int end) {
    int warps = blockDim.x >> 5;
    for (int k = begin * 32 + (threadIdx.x & 31) * 8; k < end * 32; k += 256) {
        real* to = xs + k - first * 32;
#pragma unroll 4
        for (int row = threadIdx.x >> 5; row < ROWS; row += warps) {
            bool there = row < p.rows;
            fetch16(to + row * pitch, there ? p.x + (u32)(row * p.inputs + k) : p.x, there);
        }
    }
    group_fetched();
}

// Waits for the rows; each warp normalises those that it fetched. A barrier must follow.
template <int ROWS>
__device__ inline void step_norm(const Product& p, real* xs, const real* norms, int pitch, const float* inverse,
                                 int first, int begin, int end) {
    int warps = blockDim.x >> 5;
    for (int k = (begin - first) * 32 + (threadIdx.x & 31) * 8; k < (end - first) * 32; k += 256) {
        Sixteen weight = load16(norms + k);
#pragma unroll 2
        for (int row = threadIdx.x >> 5; row < min(ROWS, p.rows); row += warps) {
            Sixteen x = load16(xs + row * pitch + k);
            float r = inverse[row];
#pragma unroll
            for (int j = 0; j < 4; j++) {
                u32 v = x.word[j], w = weight.word[j];
                x.word[j] = pack2(__uint_as_float(v << 16) * (r * __uint_as_float(w << 16)),
                                  __uint_as_float(v & 0xffff0000u) * (r * __uint_as_float(w & 0xffff0000u)));
            }
            *(uint4*)(xs + row * pitch + k) = x.all;
        }
    }
}

// A warp's sums into its plane, (rows, pitch): of each fragment a lane has two neighbouring outputs of two rows.
template <int MT> __device__ inline void step_put(float c[MT][4][4], float* plane, int pitch, int group) {
    int lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3;
    float* at = plane + g * pitch + group * 32 + 2 * t;
#pragma unroll
    for (int m = 0; m < MT; m++) {
#pragma unroll
        for (int n = 0; n < 4; n++) {
            *(float2*)(at + m * 16 * pitch + n * 8) = make_float2(c[m][n][0], c[m][n][1]);
            *(float2*)(at + (m * 16 + 8) * pitch + n * 8) = make_float2(c[m][n][2], c[m][n][3]);
        }
    }
}

// Sums in shared memory: those of `count` warps, which are added in their order, and then those of all slices.
struct StepSums {
    float* planes;
    int pitch, size, count, slices;

    __device__ inline float* at(int row, int column) const { return planes + row * pitch + column; }

    // Of this block.
    __device__ inline float4 own(int row, int column) const {
        const float* from = at(row, column);
        float4 sum = *(const float4*)from;
        for (int n = 1; n < count; n++) add(sum, *(const float4*)(from + n * size));
        return sum;
    }

    // Of all blocks of the cluster, whose first plane has all of theirs.
    __device__ inline float4 four(int row, int column) const {
        if (slices == 1) return own(row, column);
        float4 part[STEP_SLICES];
#pragma unroll
        for (int n = 0; n < STEP_SLICES; n++)
            if (n < slices) part[n] = load_remote(at(row, column), n);
#pragma unroll
        for (int n = 1; n < STEP_SLICES; n++)
            if (n < slices) add(part[0], part[n]);
        return part[0];
    }

    __device__ inline Eight eight(int row, int column) const {
        float4 low = four(row, column), high = four(row, column + 4);
        return {{low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w}};
    }

    __device__ static inline void add(float4& to, const float4& v) {
        to.x += v.x; to.y += v.y; to.z += v.z; to.w += v.w;
    }
};

// Adds up the sums of the block's warps in the first plane, and waits for the other blocks of the cluster.
__device__ inline void step_share(const Product& p, const StepSums& sums) {
    int fours = p.groups * 8;
    if (sums.count > 1) {
        for (int n = threadIdx.x; n < p.rows * fours; n += blockDim.x) {
            int row = n / fours, column = n % fours * 4;
            *(float4*)sums.at(row, column) = sums.own(row, column);
        }
    }
    step_meet();
}

// Eight values of B at place k of all low-rank values, for the i-th of the rows that a lane loads.
template <int MODE> __device__ inline Sixteen step_b(const Product& p, const StepTile& tile, int group, int i, int k) {
    int g = (threadIdx.x & 31) >> 2, row = group * 32 + i * 8 + g;
    const real* from = tile.b;
    if (MODE == STEP_GATE) {
        // Gate and up alternate, as in step_rows; up's low-rank values follow gate's.
        row = group * 16 + i / 2 * 8 + g;
        from = i & 1 ? p.b1 : p.b0;
        if (i & 1 && p.b0) k -= p.rank;
    }
    Sixteen out;
    out.all = make_uint4(0, 0, 0, 0);
    if (from && row < tile.width && (u32)k < (u32)p.rank) {
        if (MODE == STEP_GATE) row += tile.first;
        out = load_weights(from + (u32)(row * p.rank + k));
    }
    return out;
}

// The adapter's share: low-rank values of the slice, scaled, rounded and woven, times B. Every warp of the block comes
// here, and those of the low-rank values have put them where `sums` says.
template <int MT, int MODE>
__device__ inline void step_adapter(const Product& p, const StepTile& tile, float c[MT][4][4], const StepSums& sums,
                                    real* low, int group, int turn) {
    int lane = threadIdx.x & 31, t = lane & 3, pitch = step_pitch(p.lows), fours = p.lows * 8;
    __syncthreads();
    for (int n = threadIdx.x; n < MT * 16 * fours; n += blockDim.x) {
        int row = n / fours, column = n % fours * 4;
        // Columns beyond belong to no adapter. A rank is a multiple of 8, so all four exist or none.
        float4 v = sums.own(row, p.groups * 32 + column);
        float scale = column < tile.low_count ? p.scale : 0.0f;
        *(u32*)(low + row * pitch + woven(column)) = pack2(scale * v.x, scale * v.y);
        *(u32*)(low + row * pitch + woven(column + 2)) = pack2(scale * v.z, scale * v.w);
    }
    __syncthreads();
    if (turn > 0 || group >= p.groups) return;
#pragma unroll 1
    for (int chunk = 0; chunk < p.lows; chunk++) {
        Sixteen w[4];
#pragma unroll
        for (int i = 0; i < 4; i++) w[i] = step_b<MODE>(p, tile, group, i, chunk * 32 + t * 8);
        step_mma<MT>(c, w, low + step_lane(pitch) + chunk * 32, pitch);
    }
}

// Which eight outputs of which row a thread finishes n-th: slices of a tile share its rows.
struct StepPlace {
    int row, column;
    bool here;

    __device__ inline StepPlace(const Product& p, const StepTile& tile, int n, int eights) {
        row = n / eights * gridDim.y + blockIdx.y;
        column = n % eights * 8;
        here = row < p.rows && column < tile.width;
    }
};

// Finishes a tile's sums.
template <int MT, int MODE>
__device__ inline void step_finish(const Product& p, const StepTile& tile, int nth, StepSums& sums) {
    int eights = p.groups * (MODE == STEP_GATE ? 2 : 4), rows = (MT * 16 + gridDim.y - 1) / gridDim.y;
    Sixteen old;
    if (MODE == STEP_ADD) {
        // Loads while the blocks wait for each other.
        StepPlace first(p, tile, threadIdx.x, eights);
        if (first.here) old = load_fresh(p.y + (i64)first.row * p.outputs0 + tile.first + first.column);
    }
    if (gridDim.y > 1) step_share(p, sums);
    // Whole warps, even beyond the last row, because they sum up squares together.
    for (int n = threadIdx.x; n < (rows * eights + 31) / 32 * 32; n += blockDim.x) {
        StepPlace place(p, tile, n, eights);
        int row = place.row, j = place.column;
        if (MODE == STEP_STORE && place.here) {
            int stride = p.outputs0 + p.outputs1 + p.outputs2;
            store8(p.y + (i64)row * stride + tile.first + j, sums.eight(row, j));
        }
        if (MODE == STEP_GATE && place.here) {
            Eight gate = sums.eight(row, 2 * j), up = sums.eight(row, 2 * j + 8);
#pragma unroll
            for (int i = 0; i < 8; i++) {
                float value = get(put(gate.v[i]));
                gate.v[i] = value * sigmoid(value) * get(put(up.v[i]));
            }
            store_woven(p.y + (i64)row * p.outputs0, tile.first + j, gate);
        }
        if (MODE == STEP_ADD) {
            float square = 0.0f;
            if (place.here) {
                i64 begin = (i64)row * p.outputs0;
                if (n >= (int)blockDim.x) old = load_fresh(p.y + begin + tile.first + j);
                Eight sum = sums.eight(row, j);
                // Rounded once, like a product that cuBLAS adds.
#pragma unroll
                for (int i = 0; i < 8; i++) {
                    u32 word = old.word[i / 2];
                    sum.v[i] = get(put(sum.v[i] + __uint_as_float(i & 1 ? word & 0xffff0000u : word << 16)));
                    square += sum.v[i] * sum.v[i];
                }
                store8(p.y + begin + tile.first + j, sum);
                store_woven(p.copy + begin, tile.first + j, sum);
            }
            for (int o = 1; o < eights; o <<= 1) square += __shfl_xor_sync(WARP, square, o);
            if (j == 0 && row < p.rows) p.squares_out[row * p.tiles + nth] = square;
        }
    }
    // Other blocks may still read this block's sums.
    if (gridDim.y > 1) step_meet();
}

// Prefetches the rest of the tile's weights into the L2 cache while the previous kernel ends.
template <int MODE> __device__ inline void step_prefetch(const Product& p, const StepTile& tile, int begin, int end) {
#ifndef HOTLOOP_EMULATED
    int lines = ((end - begin) * 32 * 2 + 127) / 128, rows = MODE == STEP_GATE ? 2 * tile.width : tile.width;
    for (int n = threadIdx.x; n < lines * rows; n += blockDim.x) {
        int nth = n / lines, k = min(begin * 32 + n % lines * 64, p.inputs - 8);
        int row = tile.first + (MODE == STEP_GATE && nth >= tile.width ? nth - tile.width + p.outputs0 : nth);
        prefetch_line(p.w + (i64)row * p.inputs + k);
    }
#endif
}

template <int MT, int MODE> __device__ inline void step_product(const Product& p) {
    const int DEPTH = MT >= 4 ? STEP_DEPTH_FULL : STEP_DEPTH;
    DYNAMIC_SHARED(real, shared);
    __shared__ float inverse[STEP_ROWS];
    // In shared memory, to save registers. The four lanes of a row write and read the same value.
    __shared__ __align__(16) u32 places[16][8][4];
    int warp = threadIdx.x >> 5, teams = p.groups + p.lows, group = warp % teams, turn = warp / teams;
    int begin = blockIdx.y * p.per, end = min(begin + p.per, p.inputs / 32);
    int pitch = step_pitch(p.per), step = p.across * DEPTH;
    real* xs = shared + (p.norm ? p.per * 32 : 0);
    const real* from = group < p.groups ? p.w : p.a;
    StepTile tile = step_tile<MODE>(p, blockIdx.x);
    u32* rows = places[warp][(threadIdx.x & 31) >> 2];
    step_rows<MODE>(p, tile, group, rows);
    StepWeights ring[DEPTH];
#pragma unroll
    for (int d = 0; d < DEPTH; d++) {
        int at = begin + d * p.across + turn;
        if (at < end) ring[d].load(from, rows, at);
    }
    if (end - begin > step) step_prefetch<MODE>(p, tile, begin, end);
    if (p.norm) {
        for (int i = threadIdx.x * 8; i < (end - begin) * 32; i += blockDim.x * 8)
            store_woven(shared, i, load8(p.norm + begin * 32 + i));
    }
    step_wait();
    for (int part = 0; part < STEP_PARTS; part++) {
        int first = begin + part * p.part;
        step_fetch<MT * 16>(p, xs, pitch, begin, min(first, end), min(first + p.part, end));
    }
    if (p.norm) {
        step_inverse(p, inverse);
        __syncthreads();
    }
    float c[MT][4][4];
#pragma unroll
    for (int m = 0; m < MT; m++) {
#pragma unroll
        for (int n = 0; n < 4; n++) c[m][n][0] = c[m][n][1] = c[m][n][2] = c[m][n][3] = 0.0f;
    }
    const real* x = xs + step_lane(pitch);
#pragma unroll 1
    for (int part = 0; part < STEP_PARTS; part++) {
        // A part is a whole number of turns of all warps, so that the weights in flight belong to the next part.
        int first = begin + part * p.part, last = min(first + p.part, end);
        wait_groups(STEP_PARTS - 1 - part);
        if (p.norm) step_norm<MT * 16>(p, xs, shared, pitch, inverse, begin, min(first, end), last);
        __syncthreads();
#pragma unroll 1
        for (int chunk = first; chunk < last; chunk += step) {
#pragma unroll
            for (int d = 0; d < DEPTH; d++) {
                int at = chunk + d * p.across + turn;
                if (at >= end) continue;
                step_mma<MT>(c, ring[d].row, x + (at - begin) * 32, pitch);
                if (at + step < end) ring[d].load(from, rows, at + step);
            }
        }
    }
    // All rows have been read, so sums may overwrite them.
    __syncthreads();
    StepSums sums = {(float*)shared, step_sum_pitch(teams), MT * 16 * step_sum_pitch(teams), p.across, (int)gridDim.y};
    float* plane = sums.planes + turn * sums.size;
    if (p.lows && tile.low_count) {
        if (group >= p.groups) step_put<MT>(c, plane, sums.pitch, group);
        step_adapter<MT, MODE>(p, tile, c, sums, (real*)(sums.planes + p.across * sums.size), group, turn);
    }
    if (group < p.groups) step_put<MT>(c, plane, sums.pitch, group);
    __syncthreads();
    step_finish<MT, MODE>(p, tile, blockIdx.x, sums);
}

#define STEP_PRODUCT(NAME, MODE, ROWS)                                                                                \
    extern "C" __global__ void __launch_bounds__(512)                                                                 \
        step_##NAME##_##ROWS(const real* x, const real* norm, const float* squares, const real* w, const real* a,     \
                             const real* b0, const real* b1, const real* b2, real* y, real* copy, float* squares_out, \
                             int square_parts, int rows, int inputs, int outputs0, int outputs1, int outputs2,        \
                             int rank, int tiles, int groups, int lows, int across, int per, int part, float eps,     \
                             float scale) {                                                                           \
        Product p = {x, norm, squares, w, a, b0, b1, b2, y, copy, squares_out, square_parts, rows, inputs, outputs0,  \
                     outputs1, outputs2, rank, tiles, groups, lows, across, per, part, eps, scale};                   \
        step_product<ROWS / 16, MODE>(p);                                                                             \
    }
#define STEP_PRODUCTS(NAME, MODE) \
    STEP_PRODUCT(NAME, MODE, 16)  \
    STEP_PRODUCT(NAME, MODE, 32)  \
    STEP_PRODUCT(NAME, MODE, 64)
STEP_PRODUCTS(store, STEP_STORE)
STEP_PRODUCTS(add, STEP_ADD)
STEP_PRODUCTS(gate, STEP_GATE)
#endif
