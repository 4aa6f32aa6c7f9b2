// Products of a decode step for at most 64 rows (bf16): y = x W', with what stands before and after a product in a
// layer folded in. W is (outputs, inputs), as it lies in the arena.
//
// Weights are the A of mma.sync m16n8k16 and rows the B, so that one row pays for eight and not for sixteen. A warp owns
// 32 outputs and takes 32 inputs at a time, straight from memory into registers: as in decode_flash.cu a lane calls the
// 16 bytes it loads the fragment's columns, and rows are numbered the same way. STEP_DEPTH such chunks are under way.
// Rows lie in shared memory, `phase` chunks at a time, normed on their way there.
//
//   warps of a block: (groups + lows) x across; `across` warps share the chunks of the same outputs and join at the end
//   grid: (tiles, splits); a block takes a tile of 32 * groups outputs and one of `splits` slices of the inputs; the head,
//   which has one slice, has fewer blocks than tiles, and they take several
//   splits: partial sums go to memory, and the last block of a tile to arrive adds them in their order
//
// An adapter needs no kernel of its own and no block waits for another: a sum over a slice of the inputs is linear, so
// every block takes the slice's share of x A' beside its own outputs (`lows` more groups of warps, whose weights are A's
// rows) and multiplies it by B at the end. A is small and read again by each tile, out of the L2 cache.
//
// Everything up to `step_wait` touches weights only: chained kernels run that far beside the kernel before them.
#if !defined(HOTLOOP_F32) && defined(HEAD_DIM) && HEAD_DIM % 64 == 0 && HEAD_DIM <= 128

struct StepWeights {
    Sixteen row[4];

    // Inputs end at a multiple of 8; rows of x are zero beyond.
    __device__ inline void load(const Product& p, const real* from, const u32* rows, int chunk) {
        u32 k = min(chunk * 32 + (int)(threadIdx.x & 3) * 8, p.inputs - 8);
        uint4 at = *(const uint4*)rows;
        row[0] = load_weights(from + (at.x + k));
        row[1] = load_weights(from + (at.y + k));
        row[2] = load_weights(from + (at.z + k));
        row[3] = load_weights(from + (at.w + k));
    }
};

// c (16 outputs x 8 rows) += one half of two rows of weights that a lane holds times the same half of a row.
__device__ inline void step_fragment(float* c, const Sixteen* w, const Sixteen& x, int half) {
    int i = 2 * half;
    u32 a[4] = {w[0].word[i], w[1].word[i], w[0].word[i + 1], w[1].word[i + 1]};
    mma(c, a, x.word + i);
}

// c (32 outputs x 8 NT rows) += weights times a chunk of rows, two rows' worth of fragments at a time: four products lie
// between two that add to the same sums.
template <int NT> __device__ inline void step_mma(float c[2][NT][4], const Sixteen* w, const real* x, int pitch) {
    const int PAIR = NT > 1 ? 2 : 1;
#pragma unroll
    for (int n = 0; n < NT; n += PAIR) {
        Sixteen b[PAIR];
#pragma unroll
        for (int i = 0; i < PAIR; i++) b[i] = load16(x + (n + i) * 8 * pitch);
#pragma unroll
        for (int half = 0; half < 2; half++) {
#pragma unroll
            for (int i = 0; i < PAIR; i++) {
                step_fragment(c[0][n + i], w, b[i], half);
                step_fragment(c[1][n + i], w + 2, b[i], half);
            }
        }
    }
}

// A row of a chunk of rows: 64 bytes more than a multiple of 128 keep the banks apart.
__device__ inline int step_pitch(int chunks) { return chunks * 32 + (chunks & 1 ? 0 : 32); }

// 1 / rms of every row: four lanes sum up the parts of a row, all of which are on their way at once. A barrier must follow.
__device__ inline void step_inverse(const Product& p, float* inverse) {
    const int LANES = 4, AT_ONCE = 8;
    // Whole warps, also where rows end: they shuffle.
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

// Chunks [begin, end) of all rows begin their way into shared memory, zeros beyond both ends. A warp takes every
// so-maniest row, a lane eight values of it.
template <int ROWS> __device__ inline void step_fetch(const Product& p, real* xs, int pitch, int begin, int end) {
    int warps = blockDim.x >> 5, width = (end - begin) * 32;
#pragma unroll 1
    for (int i = (threadIdx.x & 31) * 8; i < width; i += 256) {
        int k = begin * 32 + i;
#pragma unroll 1
        for (int row = threadIdx.x >> 5; row < ROWS; row += warps) {
            bool there = row < p.rows && k < p.inputs;
            fetch16(xs + row * pitch + i, there ? p.x + (u32)(row * p.inputs + k) : p.x, there);
        }
    }
}

// They have come, and are normed where they lie by who fetched them, UNROLL at once. A barrier must follow.
template <int UNROLL>
__device__ inline void step_arrive(const Product& p, real* xs, int pitch, const float* inverse, int begin, int end) {
    int warps = blockDim.x >> 5, width = (end - begin) * 32;
    wait_fetched();
    if (!p.norm) return;
#pragma unroll 1
    for (int i = (threadIdx.x & 31) * 8; i < width; i += 256) {
        Sixteen weight = load16(p.norm + min(begin * 32 + i, p.inputs - 8));
#pragma unroll 1
        for (int first = threadIdx.x >> 5; first < p.rows; first += warps * UNROLL) {
            Sixteen x[UNROLL];
#pragma unroll
            for (int n = 0; n < UNROLL; n++) x[n] = load16(xs + min(first + n * warps, p.rows - 1) * pitch + i);
#pragma unroll
            for (int n = 0; n < UNROLL; n++) {
                int row = first + n * warps;
                if (row >= p.rows) continue;
                float r = inverse[row];
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    u32 v = x[n].word[j], w = weight.word[j];
                    x[n].word[j] = pack2(__uint_as_float(v << 16) * (r * __uint_as_float(w << 16)),
                                         __uint_as_float(v & 0xffff0000u) * (r * __uint_as_float(w & 0xffff0000u)));
                }
                *(uint4*)(xs + row * pitch + i) = x[n].all;
            }
        }
    }
}

// A lane's place among sums, (rows, pitch): four values of each fragment are two outputs, eight apart, of two rows.
template <int NT, class F> __device__ inline void step_each(float c[2][NT][4], float* sums, int pitch, int group, F f) {
    int lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3;
    float* at = sums + 2 * t * pitch + group * 32 + g;
#pragma unroll
    for (int m = 0; m < 2; m++) {
#pragma unroll
        for (int n = 0; n < NT; n++) {
#pragma unroll
            for (int i = 0; i < 4; i++) f(at[(n * 8 + (i & 1)) * pitch + m * 16 + (i >> 1) * 8], c[m][n][i]);
        }
    }
}

// Warps that share outputs join, pairwise, until the first has all. Every warp of the block comes here.
template <int NT>
__device__ inline void step_join(const Product& p, float c[2][NT][4], float* sums, int pitch, int group, int turn) {
    for (int half = p.across >> 1; half > 0; half >>= 1) {
        __syncthreads();
        if (turn >= half && turn < 2 * half)
            step_each<NT>(c, sums + (turn - half) * NT * 8 * pitch, pitch, group, [](float& at, float& v) { at = v; });
        __syncthreads();
        if (turn < half)
            step_each<NT>(c, sums + turn * NT * 8 * pitch, pitch, group, [](float& at, float& v) { v += at; });
    }
}

// Eight values of B at place k of all low-rank values, for the i-th of the rows that a lane loads.
template <int MODE> __device__ inline Sixteen step_b(const Product& p, const StepTile& tile, int group, int i, int k) {
    int g = (threadIdx.x & 31) >> 2, row = group * 32 + i * 8 + g;
    const real* from = tile.b;
    if (MODE == STEP_GATE) {
        // Gate and up take turns, as in step_rows; up's low-rank values follow gate's.
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

// The adapter's share: low-rank values of the slice, scaled and rounded, times B. Every warp of the block comes here.
template <int NT, int MODE>
__device__ inline void step_adapter(const Product& p, const StepTile& tile, float c[2][NT][4], real* low, int group,
                                    int turn) {
    int lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3, chunks = (tile.low_count + 31) / 32;
    int pitch = step_pitch(p.lows);
    if (turn == 0 && group >= p.groups) {
        real* at = low + 2 * t * pitch + (group - p.groups) * 32 + g;
#pragma unroll
        for (int m = 0; m < 2; m++) {
#pragma unroll
            for (int n = 0; n < NT; n++) {
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    int column = (group - p.groups) * 32 + m * 16 + (i >> 1) * 8 + g;
                    real value = column < tile.low_count ? put(p.scale * c[m][n][i]) : 0;
                    at[(n * 8 + (i & 1)) * pitch + m * 16 + (i >> 1) * 8] = value;
                }
            }
        }
    }
    __syncthreads();
    if (turn == 0 && group < p.groups) {
#pragma unroll 1
        for (int chunk = 0; chunk < chunks; chunk++) {
            const real* x = low + g * pitch + chunk * 32 + t * 8;
#pragma unroll
            for (int m = 0; m < 2; m++) {
                Sixteen w[2] = {step_b<MODE>(p, tile, group, 2 * m, chunk * 32 + t * 8),
                                step_b<MODE>(p, tile, group, 2 * m + 1, chunk * 32 + t * 8)};
#pragma unroll
                for (int n = 0; n < NT; n++) {
                    Sixteen b = load16(x + n * 8 * pitch);
                    step_fragment(c[m][n], w, b, 0);
                    step_fragment(c[m][n], w, b, 1);
                }
            }
        }
    }
}

// Adds the partial sums of all slices, if this block is the last of its tile: `sums` then holds them.
template <int NT> __device__ inline bool step_last(const Product& p, int tile, float* sums, int pitch) {
    __shared__ bool last;
    int wide = p.groups * 32, fours = wide / 4, splits = gridDim.y;
    i64 size = (i64)p.rows * wide;
    float* parts = p.partial + (i64)tile * splits * size;
    for (int n = threadIdx.x; n < p.rows * fours; n += blockDim.x)
        *(float4*)(parts + blockIdx.y * size + n * 4) = *(const float4*)(sums + n / fours * pitch + n % fours * 4);
    step_fence();
    __syncthreads();
    if (threadIdx.x == 0) {
        last = atomicAdd(p.arrivals + tile, 1u) == (u32)splits - 1;
        if (last) p.arrivals[tile] = 0;
    }
    __syncthreads();
    if (!last) return false;
    // Several at once, as each comes from the second cache.
    const int AT_ONCE = 4;
    for (int first = threadIdx.x; first < p.rows * fours; first += blockDim.x * AT_ONCE) {
        float4 sum[AT_ONCE];
#pragma unroll
        for (int j = 0; j < AT_ONCE; j++) sum[j] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll 4
        for (int s = 0; s < splits; s++) {
#pragma unroll
            for (int j = 0; j < AT_ONCE; j++) {
                int n = min(first + j * (int)blockDim.x, p.rows * fours - 1);
                float4 part = __ldcg((const float4*)(parts + s * size + n * 4));
                sum[j].x += part.x; sum[j].y += part.y; sum[j].z += part.z; sum[j].w += part.w;
            }
        }
#pragma unroll
        for (int j = 0; j < AT_ONCE; j++) {
            int n = first + j * blockDim.x;
            if (n < p.rows * fours) *(float4*)(sums + n / fours * pitch + n % fours * 4) = sum[j];
        }
    }
    __syncthreads();
    return true;
}

__device__ inline Eight eight_floats(const float* from) {
    float4 low = ((const float4*)from)[0], high = ((const float4*)from)[1];
    return {{low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w}};
}

// What becomes of a tile's sums. Threads take eight outputs of a row.
template <int NT, int MODE>
__device__ inline void step_finish(const Product& p, const StepTile& tile, int nth, const float* sums, int pitch) {
    int eights = p.groups * (MODE == STEP_GATE ? 2 : 4);
    // Whole warps, also where rows end: they sum up squares together.
    for (int n = threadIdx.x; n < NT * 8 * eights; n += blockDim.x) {
        int row = n / eights, j = n % eights * 8;
        bool here = row < p.rows && j < tile.width;
        const float* from = sums + row * pitch + (MODE == STEP_GATE ? 2 * j : j);
        if (MODE == STEP_STORE && here) {
            int stride = p.outputs0 + p.outputs1 + p.outputs2;
            store8((real*)p.y + (i64)row * stride + tile.first + j, eight_floats(from));
        }
        if (MODE == STEP_GATE && here) {
            Eight gate = eight_floats(from), up = eight_floats(from + 8);
#pragma unroll
            for (int i = 0; i < 8; i++) {
                float value = get(put(gate.v[i]));
                gate.v[i] = value * (1.0f / (1.0f + fast_exp(-value))) * get(put(up.v[i]));
            }
            store8((real*)p.y + (i64)row * p.outputs0 + tile.first + j, gate);
        }
        if (MODE == STEP_HEAD && here) {
            float* to = (float*)p.y + (i64)row * p.outputs0 + tile.first + j;
            if (p.outputs0 % 4 == 0 && j + 8 <= tile.width) {
                ((float4*)to)[0] = *(const float4*)from;
                ((float4*)to)[1] = *(const float4*)(from + 4);
            } else {
                for (int i = 0; i < min(8, tile.width - j); i++) to[i] = from[i];
            }
        }
        if (MODE == STEP_ADD) {
            float square = 0.0f;
            if (here) {
                real* to = (real*)p.y + (i64)row * p.outputs0 + tile.first + j;
                Sixteen old = load_fresh(to);
                Eight sum = eight_floats(from);
                // Rounded as a product that is added by cuBLAS, once.
#pragma unroll
                for (int i = 0; i < 8; i++) {
                    u32 word = old.word[i / 2];
                    sum.v[i] = get(put(sum.v[i] + __uint_as_float(i & 1 ? word & 0xffff0000u : word << 16)));
                    square += sum.v[i] * sum.v[i];
                }
                store8(to, sum);
            }
            for (int o = 1; o < eights; o <<= 1) square += __shfl_xor_sync(WARP, square, o);
            if (j == 0 && row < p.rows) p.squares_out[row * p.tiles + nth] = square;
        }
    }
}

// Asks for the rest of the weights of the first tile, which come to the second cache while the kernel before ends.
template <int MODE> __device__ inline void step_prefetch(const Product& p, const StepTile& tile, int begin, int end) {
#if STEP_PREFETCH && !defined(HOTLOOP_EMULATED)
    int lines = ((end - begin) * 32 * 2 + 127) / 128, rows = MODE == STEP_GATE ? 2 * tile.width : tile.width;
    for (int n = threadIdx.x; n < lines * rows; n += blockDim.x) {
        int nth = n / lines, k = min(begin * 32 + n % lines * 64, p.inputs - 8);
        int row = tile.first + (MODE == STEP_GATE && nth >= tile.width ? nth - tile.width + p.outputs0 : nth);
        prefetch_line(p.w + (i64)row * p.inputs + k);
    }
#endif
}

template <int NT, int MODE> __device__ inline void step_product(const Product& p) {
    const int DEPTH = NT >= 4 ? STEP_DEPTH_FULL : STEP_DEPTH;
    // The head alone has more tiles than blocks, and no adapter.
    const bool LOOPS = MODE == STEP_HEAD;
    DYNAMIC_SHARED(real, shared);
    __shared__ float inverse[STEP_ROWS];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, g = lane >> 2, t = lane & 3, teams = p.groups + p.lows;
    int group = warp % teams, turn = warp / teams, step = p.across * DEPTH;
    int begin = blockIdx.y * p.per, end = min(begin + p.per, (p.inputs + 31) / 32);
    int pitch = step_pitch(min(p.phase, p.per));
    const real* from = group < p.groups ? p.w : p.a;
    StepTile tile = step_tile<MODE>(p, blockIdx.x);
    // Kept out of registers. The four lanes of a row write and read the same.
    __shared__ __align__(16) u32 places[16][8][4];
    u32* rows = places[warp][g];
    step_rows<MODE>(p, tile, group, rows);
    StepWeights ring[DEPTH];
#pragma unroll
    for (int d = 0; d < DEPTH; d++) {
        int at = begin + d * p.across + turn;
        if (at < end) ring[d].load(p, from, rows, at);
    }
    if (end - begin > step) step_prefetch<MODE>(p, tile, begin, end);
    step_wait();
    // The first rows, while there are no sums yet that take registers.
    step_fetch<NT * 8>(p, shared, pitch, begin, min(begin + p.phase, end));
    if (p.norm) step_inverse(p, inverse);
    __syncthreads();
    step_arrive<4>(p, shared, pitch, inverse, begin, min(begin + p.phase, end));
    __syncthreads();
    for (int nth = blockIdx.x; nth < p.tiles; nth += gridDim.x) {
        bool first = !LOOPS || nth == blockIdx.x, more = LOOPS && nth + gridDim.x < p.tiles;
        float c[2][NT][4];
#pragma unroll
        for (int n = 0; n < NT; n++) {
#pragma unroll
            for (int i = 0; i < 4; i++) c[0][n][i] = c[1][n][i] = 0.0f;
        }
        for (int chunk = begin; chunk < end; chunk += step) {
            int into = (chunk - begin) % p.phase;
            // Rows that fit at once stay for all tiles.
            if (into == 0 && p.phase < end - begin && !(first && chunk == begin)) {
                __syncthreads();
                step_fetch<NT * 8>(p, shared, pitch, chunk, min(chunk + p.phase, end));
                step_arrive<1>(p, shared, pitch, inverse, chunk, min(chunk + p.phase, end));
                __syncthreads();
            }
#pragma unroll
            for (int d = 0; d < DEPTH; d++) {
                int at = chunk + d * p.across + turn;
                if (at >= end) continue;
                step_mma<NT>(c, ring[d].row, shared + g * pitch + (into + at - chunk) * 32 + t * 8, pitch);
                if (at + step < end) {
                    ring[d].load(p, from, rows, at + step);
                } else if (LOOPS && more) {
                    // The next tile's first chunks come while this one is finished.
                    __align__(16) u32 later[4];
                    step_later(p, rows, later);
                    ring[d].load(p, from, later, begin + d * p.across + turn);
                }
            }
        }
        // Found anew rather than kept in registers all along: the compiler must not see that they are the same.
        int again = nth, sum_pitch = teams * 32 + 4;
        asm volatile("" : "+r"(again), "+r"(sum_pitch));
        tile = step_tile<MODE>(p, again);
        float* sums = (float*)(shared + NT * 8 * pitch);
        real* low = (real*)(sums + max(p.across / 2, 1) * NT * 8 * sum_pitch);
        step_join<NT>(p, c, sums, sum_pitch, group, turn);
        if (!LOOPS && p.lows && tile.low_count) step_adapter<NT, MODE>(p, tile, c, low, group, turn);
        if (turn == 0 && group < p.groups)
            step_each<NT>(c, sums, sum_pitch, group, [](float& at, float& v) { at = v; });
        __syncthreads();
        if (!LOOPS && gridDim.y > 1 && !step_last<NT>(p, nth, sums, sum_pitch)) return;
        step_finish<NT, MODE>(p, tile, nth, sums, sum_pitch);
        if (!more) return;
        tile = step_tile<MODE>(p, nth + gridDim.x);
        step_rows<MODE>(p, tile, group, rows);
        __syncthreads();
    }
}

#define STEP_PRODUCT(NAME, MODE, ROWS)                                                                                \
    extern "C" __global__ void __launch_bounds__(512)                                                                 \
        step_##NAME##_##ROWS(const real* x, const real* norm, const float* squares, const real* w, const real* a,     \
                             const real* b0, const real* b1, const real* b2, void* y, float* squares_out,             \
                             float* partial, u32* arrivals, int square_parts, int rows, int inputs, int outputs0,     \
                             int outputs1, int outputs2, int rank, int tiles, int groups, int lows, int across,       \
                             int per, int phase, float eps, float scale) {                                            \
        Product p = {x, norm, squares, w, a, b0, b1, b2, y, squares_out, partial, arrivals, square_parts, rows,       \
                     inputs, outputs0, outputs1, outputs2, rank, tiles, groups, lows, across, per, phase, eps,        \
                     scale};                                                                                          \
        step_product<ROWS / 8, MODE>(p);                                                                              \
    }
#define STEP_PRODUCTS(NAME, MODE) \
    STEP_PRODUCT(NAME, MODE, 8)   \
    STEP_PRODUCT(NAME, MODE, 16)  \
    STEP_PRODUCT(NAME, MODE, 32)  \
    STEP_PRODUCT(NAME, MODE, 64)
STEP_PRODUCTS(store, STEP_STORE)
STEP_PRODUCTS(add, STEP_ADD)
STEP_PRODUCTS(gate, STEP_GATE)
STEP_PRODUCTS(head, STEP_HEAD)
#endif
