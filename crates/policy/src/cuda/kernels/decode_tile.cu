// Shared code of a decode step's kernels: waiting for each other, loads, and which outputs a block of
// decode_product.cu computes.
#if !defined(HOTLOOP_F32) && defined(HEAD_DIM) && HEAD_DIM % 64 == 0 && HEAD_DIM <= 128

// Chunks under way a warp: with all 64 rows sums take most registers. decode_product.rs has the same numbers.
#define STEP_DEPTH 3
#define STEP_DEPTH_FULL 2
// Rows of a launch at most.
#define STEP_ROWS 64

// Slices of a product's inputs at most: blocks of a cluster.
#define STEP_SLICES 8
// Parts that rows come to shared memory in, so that the first are worked on while others are under way.
#define STEP_PARTS 4

// What a kernel does with its sums.
#define STEP_STORE 0   // kept, rounded
#define STEP_ADD 1     // added to the residual stream; its squares and the next product's rows are left too
#define STEP_GATE 2    // silu(gate) * up: an output is a column of both

// Waits until the previous kernels have ended and their writes are visible. Every thread of every kernel of a step must
// call this before it touches what another kernel writes. It also lets the next kernel begin.
__device__ inline void step_wait() {
#ifndef HOTLOOP_EMULATED
    asm volatile("griddepcontrol.wait;" ::: "memory");
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// A block that sees this block's arrival also sees what this block wrote before. Less than __threadfence, which
// would put all such writes into one order for everybody.
__device__ inline void step_fence() {
#ifdef HOTLOOP_EMULATED
    __threadfence();
#else
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
#endif
}

// Waits for all blocks of the cluster; their writes to shared memory are visible afterwards.
__device__ inline void step_meet() {
#ifdef HOTLOOP_EMULATED
    emulate_meet();
#else
    asm volatile("barrier.cluster.arrive.release;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
#endif
}

// Four floats at the same place in the shared memory of another block of the cluster.
__device__ inline float4 load_remote(const float* at, int block) {
#ifdef HOTLOOP_EMULATED
    return *(const float4*)emulate_remote(at, block);
#else
    float4 out;
    u32 here = (u32)__cvta_generic_to_shared(at), there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"(block));
    asm volatile("ld.shared::cluster.v4.f32 {%0,%1,%2,%3}, [%4];"
                 : "=f"(out.x), "=f"(out.y), "=f"(out.z), "=f"(out.w) : "r"(there));
    return out;
#endif
}

// Loads sixteen bytes of weights: bypasses the L1 cache, and brings their neighbours into L2.
__device__ inline Sixteen load_weights(const real* at) {
    Sixteen out;
#ifdef HOTLOOP_EMULATED
    out.all = *(const uint4*)at;
#else
    asm volatile("ld.global.nc.L1::no_allocate.L2::128B.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(out.word[0]), "=r"(out.word[1]), "=r"(out.word[2]), "=r"(out.word[3]) : "l"(at));
#endif
    return out;
}

__device__ inline void prefetch_line(const real* at) {
#ifndef HOTLOOP_EMULATED
    asm volatile("prefetch.global.L2 [%0];" :: "l"(at));
#endif
}

// Loads what other blocks or the previous kernel have written, bypassing the L1 cache.
__device__ inline Sixteen load_fresh(const real* at) {
    Sixteen out;
    out.all = __ldcg((const uint4*)at);
    return out;
}

__device__ inline real load_fresh1(const real* at) { return __ldcg(at); }

// Eight neighbours of a row, the first at i, into the woven row.
__device__ inline void store_woven(real* row, int i, const Eight& x) {
#pragma unroll
    for (int j = 0; j < 4; j++) *(u32*)(row + woven(i + 2 * j)) = pack2(x.v[2 * j], x.v[2 * j + 1]);
}

struct Product {
    const real *x, *norm;         // rows, woven, and the weight of their norm or none
    const float* squares;         // (rows, square_parts): sums of squares of the rows of x
    const real *w, *a, *b0, *b1, *b2;
    real *y, *copy;               // with STEP_ADD: y once more, woven, for the product to come,
    float* squares_out;           // and its squares
    int square_parts, rows, inputs, outputs0, outputs1, outputs2, rank, tiles, groups, lows, across, per, part;
    float eps, scale;
};

// The outputs of a tile: matrix rows [first, first + width) of one module, and which rows of A are its adapter's.
// With STEP_GATE they are columns of gate and of up.
struct StepTile {
    int first, width, low_first, low_count;
    const real* b;
};

template <int MODE> __device__ inline StepTile step_tile(const Product& p, int tile) {
    int wide = p.groups * 32;
    if (MODE == STEP_GATE) {
        int first = tile * wide / 2, parts = (p.b0 ? 1 : 0) + (p.b1 ? 1 : 0);
        return {first, min(wide / 2, p.outputs0 - first), 0, parts * p.rank, 0};
    }
    int tiles0 = (p.outputs0 + wide - 1) / wide, tiles1 = (p.outputs1 + wide - 1) / wide;
    bool second = tile >= tiles0, third = tile >= tiles0 + tiles1;
    int nth = tile - (third ? tiles0 + tiles1 : second ? tiles0 : 0);
    int begin = third ? p.outputs0 + p.outputs1 : second ? p.outputs0 : 0;
    int all = third ? p.outputs2 : second ? p.outputs1 : p.outputs0;
    const real* b = third ? p.b2 : second ? p.b1 : p.b0;
    int before = (second && p.b0 ? 1 : 0) + (third && p.b1 ? 1 : 0);
    // B's rows are counted from the module's first output.
    return {begin + nth * wide, min(wide, all - nth * wide), b ? before * p.rank : 0, b ? p.rank : 0,
            b ? b + (i64)nth * wide * p.rank : 0};
}

// Where the four rows of weights begin that a lane loads: rows g, g + 8, g + 16 and g + 24 of its warp's 32. Those beyond
// the last are the last one's, and left out later.
template <int MODE>
__device__ inline void step_rows(const Product& p, const StepTile& tile, int group, u32* rows) {
    int g = (threadIdx.x & 31) >> 2;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        int n = group * 32 + i * 8 + g, row;
        if (group >= p.groups) {
            row = tile.low_first + max(min(n - p.groups * 32, tile.low_count - 1), 0);
        } else if (MODE == STEP_GATE) {
            // Eight columns of gate, then the same of up.
            row = tile.first + min(n / 16 * 8 + g, tile.width - 1) + (i & 1 ? p.outputs0 : 0);
        } else {
            row = tile.first + min(n, tile.width - 1);
        }
        rows[i] = (u32)row * (u32)p.inputs;
    }
}

#endif
