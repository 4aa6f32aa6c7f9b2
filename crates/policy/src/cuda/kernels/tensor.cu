// Shared code of the tensor-core kernels (bf16 only): products of fragments, loads into shared memory and registers.
//
// Fragments, with g = lane / 4 and t = lane % 4 (PTX ISA, m16n8k16):
//   A 16x16: a0 (g, 2t) a1 (g + 8, 2t) a2 (g, 2t + 8) a3 (g + 8, 2t + 8), two neighbouring columns a register
//   B 16x8:  b0 (2t, g) b1 (2t + 8, g), two neighbouring rows a register
//   C 16x8:  c0 c1 (g, 2t) c2 c3 (g + 8, 2t)
// So two C tiles side by side are an A tile after rounding, which is how probabilities enter the second product.
#ifndef HOTLOOP_F32

#define LOG2E 1.4426950408889634f

// c += a b.
__device__ inline void mma(float* c, const u32* a, const u32* b) {
#ifdef HOTLOOP_EMULATED
    emulate_mma(c, a, b);
#else
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

// Four 8x8 blocks: lane l names row l % 8 of block l / 8, and gets columns 2t, 2t + 1 of row g of all.
__device__ inline void load_blocks(u32* r, const real* row) {
#ifdef HOTLOOP_EMULATED
    emulate_ldmatrix(r, row);
#else
    u32 at = (u32)__cvta_generic_to_shared(row);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");
#endif
}

// The same, each transposed: a lane gets rows 2t, 2t + 1 of column g of all.
__device__ inline void load_transposed(u32* r, const real* row) {
#ifdef HOTLOOP_EMULATED
    emulate_ldmatrix_trans(r, row);
#else
    u32 at = (u32)__cvta_generic_to_shared(row);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");
#endif
}

// Starts to copy sixteen bytes, or zeros, into shared memory. `wait_fetched` and a barrier complete it.
__device__ inline void fetch16(void* to, const void* from, bool there) {
#ifdef HOTLOOP_EMULATED
    emulate_fetch(to, there ? from : 0, 16);
#else
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :: "r"((u32)__cvta_generic_to_shared(to)), "l"(from), "r"(there ? 16 : 0) : "memory");
#endif
}

// The same for one float, which must exist.
__device__ inline void fetch4(float* to, const float* from) {
#ifdef HOTLOOP_EMULATED
    emulate_fetch(to, from, 4);
#else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;"
                 :: "r"((u32)__cvta_generic_to_shared(to)), "l"(from) : "memory");
#endif
}

// Makes a group of this thread's fetches since the last such call.
__device__ inline void group_fetched() {
#ifdef HOTLOOP_EMULATED
    emulate_group_fetched();
#else
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits for all of this thread's groups except the last `but`, three at most.
__device__ inline void wait_groups(int but) {
#ifdef HOTLOOP_EMULATED
    emulate_wait_groups(but);
#else
    // The number must be part of the instruction.
    switch (but) {
    case 0: asm volatile("cp.async.wait_group 0;" ::: "memory"); break;
    case 1: asm volatile("cp.async.wait_group 1;" ::: "memory"); break;
    case 2: asm volatile("cp.async.wait_group 2;" ::: "memory"); break;
    default: asm volatile("cp.async.wait_group 3;" ::: "memory");
    }
#endif
}

// Waits for all fetches of this thread.
__device__ inline void wait_fetched() {
#ifdef HOTLOOP_EMULATED
    emulate_wait_fetched();
#else
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

// Where value i of a row lies once the row is woven. Of 32 neighbours words 4t + j lie at 4j + t: `load_blocks` then gives
// lane (g, t) the values that stand in a row's 16 bytes t, which is what a lane loads of a matrix at once. So rows are
// the A and matrices, straight from memory, the B of a product, and nothing has to be put into another order.
__device__ inline int woven(int i) { return (i & ~31) | (i >> 1 & 3) << 3 | (i >> 3 & 3) << 1 | (i & 1); }

// 2 to the x, to some 22 bits.
__device__ inline float power2(float x) {
#ifdef HOTLOOP_EMULATED
    return exp2f(x);
#else
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#endif
}

__device__ inline void round_a(u32* a, float c[2][4]) {
    a[0] = pack2(c[0][0], c[0][1]);
    a[1] = pack2(c[0][2], c[0][3]);
    a[2] = pack2(c[1][0], c[1][1]);
    a[3] = pack2(c[1][2], c[1][3]);
}
#endif
