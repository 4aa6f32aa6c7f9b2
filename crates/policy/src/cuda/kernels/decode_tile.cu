// What the kernels of a decode step begin with: waiting for each other, loads, and which outputs a block of
// decode_product.cu takes.
#if !defined(HOTLOOP_F32) && defined(HEAD_DIM) && HEAD_DIM % 64 == 0 && HEAD_DIM <= 128

// Chunks under way a warp: with all 64 rows sums take most registers. way.rs sets these.
#ifndef STEP_DEPTH
#define STEP_DEPTH 3
#endif
#ifndef STEP_DEPTH_FULL
#define STEP_DEPTH_FULL 2
#endif
// Whether a block asks for all of its first weights to come to the L2 cache while it waits.
#ifndef STEP_PREFETCH
#define STEP_PREFETCH 1
#endif
// Rows of a launch at most.
#define STEP_ROWS 64

// What is done with sums.
#define STEP_STORE 0   // kept, rounded
#define STEP_ADD 1     // added to the residual stream, whose squares are summed for the norm to come
#define STEP_GATE 2    // silu(gate) * up: an output is a column of both
#define STEP_HEAD 3    // kept as floats

// Waits until the kernels before have ended and all they wrote can be seen. Every thread of every chained kernel comes
// here before it touches what another kernel writes. Then the next kernel may begin: it sees the end of all but this one.
__device__ inline void step_wait() {
#if !defined(HOTLOOP_EMULATED) && defined(STEP_CHAINED)
    asm volatile("griddepcontrol.wait;" ::: "memory");
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// What this block has written is seen by who sees, after it, that the block has arrived. Less than __threadfence, which
// would put all such writes into one order for everybody.
__device__ inline void step_fence() {
#ifdef HOTLOOP_EMULATED
    __threadfence();
#else
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
#endif
}

// Sixteen bytes of weights: past the first cache, with their neighbours to the second.
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

// What other blocks or the kernel before have written, past the first cache.
__device__ inline Sixteen load_fresh(const real* at) {
    Sixteen out;
    out.all = __ldcg((const uint4*)at);
    return out;
}

__device__ inline real load_fresh1(const real* at) { return __ldcg(at); }

struct Product {
    const real *x, *norm;         // rows, and the weight of their norm or none
    const float* squares;         // (rows, square_parts): sums of squares of the rows of x
    const real *w, *a, *b0, *b1, *b2;
    void* y;
    float *squares_out, *partial;
    u32* arrivals;                // one a tile, zeros between launches
    int square_parts, rows, inputs, outputs0, outputs1, outputs2, rank, tiles, groups, lows, across, per, phase;
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

// The same of the block's next tile. Those beyond the last are left out later.
__device__ inline void step_later(const Product& p, const u32* rows, u32* later) {
    u32 jump = gridDim.x * p.groups * 32 * p.inputs, most = (u32)(p.outputs0 - 1) * (u32)p.inputs;
#pragma unroll
    for (int i = 0; i < 4; i++) later[i] = min(rows[i] + jump, most);
}
#endif
