// What the kernels need of CUDA, for a CPU: every thread of a block is a fibre, blocks run one after the other.
// Included before the kernels' source, which is compiled by g++ with HOTLOOP_EMULATED.
#pragma once
#define HOTLOOP_EMULATED 1
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <tuple>
#include <utility>
using std::max;
using std::min;

#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline
#define __align__(n) __attribute__((aligned(n)))
#define __shared__ static
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)
#define DYNAMIC_SHARED(type, name) type* name = (type*)emu_dynamic()

struct dim3e { unsigned x, y, z; };
struct alignas(8) float2 { float x, y; };
struct alignas(16) float4 { float x, y, z, w; };
struct alignas(8) uint2 { unsigned x, y; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
struct alignas(8) int2 { int x, y; };
struct alignas(16) int4 { int x, y, z, w; };
struct alignas(16) double2 { double x, y; };
inline int2 make_int2(int a, int b) { return {a, b}; }
inline int4 make_int4(int a, int b, int c, int d) { return {a, b, c, d}; }
inline double2 make_double2(double a, double b) { return {a, b}; }
inline float2 make_float2(float a, float b) { return {a, b}; }
inline float4 make_float4(float a, float b, float c, float d) { return {a, b, c, d}; }
inline uint2 make_uint2(unsigned a, unsigned b) { return {a, b}; }
inline uint4 make_uint4(unsigned a, unsigned b, unsigned c, unsigned d) { return {a, b, c, d}; }

static dim3e threadIdx, blockIdx, blockDim, gridDim;

inline float __uint_as_float(unsigned u) { float f; memcpy(&f, &u, 4); return f; }
inline unsigned __float_as_uint(float f) { unsigned u; memcpy(&u, &f, 4); return u; }
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}
// Threads take turns, so plain loads and stores are atomic. The value may have another type than the place.
template <class T> struct EmuSame { typedef T type; };
template <class T> T atomicAdd(T* at, typename EmuSame<T>::type n) { T old = *at; *at = old + n; return old; }
template <class T> T atomicSub(T* at, typename EmuSame<T>::type n) { T old = *at; *at = old - n; return old; }
template <class T> T atomicMax(T* at, typename EmuSame<T>::type n) { T old = *at; *at = old < n ? n : old; return old; }
template <class T> T atomicMin(T* at, typename EmuSame<T>::type n) { T old = *at; *at = n < old ? n : old; return old; }
template <class T> T atomicExch(T* at, typename EmuSame<T>::type n) { T old = *at; *at = n; return old; }
template <class T> T atomicCAS(T* at, typename EmuSame<T>::type is, typename EmuSame<T>::type n) { T old = *at; if (old == is) *at = n; return old; }
template <class T> T __ldcg(const T* at) { return *at; }
template <class T> T __ldg(const T* at) { return *at; }
template <class T> T __ldcs(const T* at) { return *at; }
template <class T> void __stcs(T* at, typename EmuSame<T>::type value) { *at = value; }
inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((uint64_t)a * b >> 32); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (unsigned long long)((unsigned __int128)a * b >> 64); }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline float __fdividef(float a, float b) { return a / b; }
[[noreturn]] inline void __trap() { __builtin_trap(); }
inline long long clock64() { return (long long)__builtin_ia32_rdtsc(); }
enum { warpSize = 32 };
inline float __expf(float x) { return expf(x); }
struct __half { _Float16 value; };
inline float __half2float(__half x) { return (float)x.value; }
inline __half __float2half(float x) { return {(_Float16)x}; }
inline float __powf(float x, float y) { return powf(x, y); }
inline float __log2f(float x) { return log2f(x); }
inline int __mul24(int a, int b) { return a * b; }
inline unsigned __umul24(unsigned a, unsigned b) { return a * b; }
inline int __ffs(unsigned x) { return __builtin_ffs((int)x); }
inline int __clz(unsigned x) { return x ? __builtin_clz(x) : 32; }
inline unsigned max(unsigned a, unsigned b) { return a > b ? a : b; }

// --- fibres -----------------------------------------------------------------------------------------------------
extern "C" void emu_switch(void** from, void* to);
asm(R"(
.text
.local emu_switch
emu_switch:
    pushq %rbx; pushq %rbp; pushq %r12; pushq %r13; pushq %r14; pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15; popq %r14; popq %r13; popq %r12; popq %rbp; popq %rbx
    ret
)");

enum { EMU_STACK = 256 << 10, EMU_CLUSTER = 8, EMU_THREADS = 4096 };
struct EmuFibre { void* sp; char* stack; bool finished; };
static EmuFibre emu_fibres[EMU_THREADS];
// A block of the cluster that runs: threads that have not returned, that wait for the block and for the cluster.
struct EmuBlock { dim3e index; unsigned left, arrived, generation, meet; char* memory; size_t size; };
static EmuBlock emu_blocks[EMU_CLUSTER];
static void* emu_main;
static unsigned emu_now, emu_threads = 1, emu_meetings;  // the fibre, threads of a block, barriers of the cluster
static std::function<void()>* emu_body;
static unsigned emu_warp_left[EMU_THREADS / 32];  // threads of each warp that have not returned

inline EmuBlock& emu_block() { return emu_blocks[emu_now / emu_threads]; }
inline void* emu_dynamic() { return emu_block().memory; }

[[noreturn]] static void emu_die(const char* what) {
    fprintf(stderr, "emulator: %s in block %u %u %u thread %u\n", what, blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x);
    abort();
}

static void emu_become(unsigned fibre) {
    unsigned thread = fibre % emu_threads;
    emu_now = fibre;
    threadIdx = {thread % blockDim.x, thread / blockDim.x % blockDim.y, thread / blockDim.x / blockDim.y};
    blockIdx = emu_block().index;
}

static void emu_yield() {
    unsigned me = emu_now;
    emu_switch(&emu_fibres[me].sp, emu_main);
    emu_become(me);
}

static void emu_entry() {
    (*emu_body)();
    emu_fibres[emu_now].finished = true;
    emu_block().left--;
    emu_warp_left[emu_now / 32]--;
    emu_yield();
    abort();
}

// A barrier of the block: counts arrivals; threads that have returned no longer count.
inline void __syncthreads() {
    EmuBlock& block = emu_block();
    unsigned generation = block.generation;
    block.arrived++;
    unsigned long spins = 0;
    while (block.generation == generation) {
        if (block.arrived >= block.left) { block.arrived = 0; block.generation++; break; }
        emu_yield();
        if (++spins > 100000000) emu_die("a barrier nobody leaves");
    }
}

// A barrier of the cluster. Its blocks run one after the other up to here, since what they declare as __shared__ is one
// and the same: only dynamic shared memory outlives it.
inline void emulate_meet() {
    unsigned meeting = emu_meetings;
    emu_block().meet++;
    while (emu_meetings == meeting) emu_yield();
}

// The same place in the dynamic shared memory of another block of the cluster.
template <class T> T* emulate_remote(T* at, unsigned block) {
    return (T*)(emu_blocks[block].memory + ((char*)at - emu_block().memory));
}

// A barrier of the warp, for shuffles: all threads of the warp that are left must come.
static unsigned emu_warp_arrived[EMU_THREADS / 32], emu_warp_generation[EMU_THREADS / 32];
static void emu_warp_sync() {
    unsigned w = emu_now / 32, generation = emu_warp_generation[w];
    emu_warp_arrived[w]++;
    unsigned long spins = 0;
    while (emu_warp_generation[w] == generation) {
        if (emu_warp_arrived[w] >= emu_warp_left[w]) { emu_warp_arrived[w] = 0; emu_warp_generation[w]++; break; }
        emu_yield();
        if (++spins > 100000000) emu_die("a shuffle that not all lanes reach");
    }
}

static uint64_t emu_exchange[EMU_THREADS][4];
template <class T> T emu_from(T value, unsigned lane) {
    memcpy(&emu_exchange[emu_now][0], &value, sizeof value);
    emu_warp_sync();
    T out;
    unsigned from = (emu_now & ~31u) | (lane & 31u);
    memcpy(&out, &emu_exchange[from][0], sizeof out);
    emu_warp_sync();
    return out;
}
template <class T> T __shfl_xor_sync(unsigned, T v, int o) { return emu_from(v, (emu_now & 31) ^ o); }
template <class T> T __shfl_sync(unsigned, T v, int l) { return emu_from(v, l); }
template <class T> T __shfl_up_sync(unsigned, T v, int o) {
    unsigned lane = emu_now & 31;
    return emu_from(v, lane >= (unsigned)o ? lane - o : lane);
}
template <class T> T __shfl_down_sync(unsigned, T v, int o) {
    unsigned lane = emu_now & 31;
    return emu_from(v, lane + (unsigned)o < 32 ? lane + o : lane);
}
inline void __syncwarp(unsigned = 0xffffffffu) { emu_warp_sync(); }
inline unsigned __ballot_sync(unsigned, bool p) {
    emu_exchange[emu_now][0] = p;
    emu_warp_sync();
    unsigned bits = 0, base = emu_now & ~31u;
    for (unsigned l = 0; l < 32; l++) bits |= (unsigned)(emu_exchange[base + l][0] & 1) << l;
    emu_warp_sync();
    return bits;
}

inline int __any_sync(unsigned mask, bool p) { return __ballot_sync(mask, p) != 0; }
inline int __all_sync(unsigned mask, bool p) { return __ballot_sync(mask, !p) == 0; }

inline float emu_bf16(uint32_t word, int half) { return __uint_as_float(half ? word & 0xffff0000u : word << 16); }

// movmatrix m8n8 trans: lane (g, t) gets rows 2t and 2t + 1 of column g.
inline uint32_t emulate_movmatrix_trans(uint32_t x) {
    unsigned lane = emu_now & 31, g = lane >> 2, t = lane & 3;
    uint32_t low = emu_from(x, 2 * t * 4 + g / 2), high = emu_from(x, (2 * t + 1) * 4 + g / 2);
    return (g & 1 ? low >> 16 : low & 0xffff) | (g & 1 ? high & 0xffff0000u : high << 16);
}

// mma.m16n8k16 row.col with the fragments of the PTX ISA.
inline void emulate_mma(float* c, const uint32_t* a, const uint32_t* b) {
    static uint32_t as[EMU_THREADS][4], bs[EMU_THREADS][2];
    memcpy(as[emu_now], a, 16);
    memcpy(bs[emu_now], b, 8);
    emu_warp_sync();
    unsigned base = emu_now & ~31u, lane = emu_now & 31, g = lane >> 2, t = lane & 3;
    for (int i = 0; i < 4; i++) {
        unsigned row = g + (i >= 2 ? 8 : 0), column = 2 * t + (i & 1);
        float sum = c[i];
        for (unsigned k = 0; k < 16; k++) {
            unsigned a_lane = (row & 7) * 4 + ((k & 7) >> 1), a_reg = (row >= 8 ? 1 : 0) + (k >= 8 ? 2 : 0);
            unsigned b_lane = column * 4 + ((k & 7) >> 1), b_reg = k >= 8 ? 1 : 0;
            sum += emu_bf16(as[base + a_lane][a_reg], k & 1) * emu_bf16(bs[base + b_lane][b_reg], k & 1);
        }
        c[i] = sum;
    }
    emu_warp_sync();
}

// ldmatrix.x4: lane l names row l % 8 of block l / 8.
inline void emulate_ldmatrix(uint32_t* r, const uint16_t* row) {
    if ((uintptr_t)row & 15) emu_die("ldmatrix of an address that is no multiple of 16");
    emu_exchange[emu_now][0] = (uint64_t)row;
    emu_warp_sync();
    unsigned base = emu_now & ~31u, lane = emu_now & 31, g = lane >> 2, t = lane & 3;
    for (int m = 0; m < 4; m++) memcpy(&r[m], (const uint16_t*)emu_exchange[base + m * 8 + g][0] + 2 * t, 4);
    emu_warp_sync();
}

// ldmatrix.x4.trans: lane l names row l % 8 of block l / 8.
inline void emulate_ldmatrix_trans(uint32_t* r, const uint16_t* row) {
    if ((uintptr_t)row & 15) emu_die("ldmatrix of an address that is no multiple of 16");
    emu_exchange[emu_now][0] = (uint64_t)row;
    emu_warp_sync();
    unsigned base = emu_now & ~31u, lane = emu_now & 31, g = lane >> 2, t = lane & 3;
    for (int m = 0; m < 4; m++) {
        const uint16_t* low = (const uint16_t*)emu_exchange[base + m * 8 + 2 * t][0];
        const uint16_t* high = (const uint16_t*)emu_exchange[base + m * 8 + 2 * t + 1][0];
        r[m] = (uint32_t)low[g] | (uint32_t)high[g] << 16;
    }
    emu_warp_sync();
}

// cp.async: what is fetched arrives at the wait, and what was there is lost at once, so that reads too early and writes
// too early both show. A null source brings zeros.
struct EmuFetch { void* to; const void* from; size_t bytes; unsigned group; };
static EmuFetch emu_fetches[EMU_THREADS][256];
static unsigned emu_fetched[EMU_THREADS], emu_groups[EMU_THREADS];
inline void emulate_fetch(void* to, const void* from, size_t bytes) {
    if (((uintptr_t)to | (uintptr_t)from) & (bytes - 1)) emu_die("a fetch of an address that is no multiple of its size");
    if (emu_fetched[emu_now] == 256) emu_die("more fetches than the emulator holds");
    memset(to, 0xff, bytes);
    emu_fetches[emu_now][emu_fetched[emu_now]++] = {to, from, bytes, emu_groups[emu_now]};
}
inline void emulate_group_fetched() { emu_groups[emu_now]++; }
// All groups but the last so many arrive, and nothing of the others.
inline void emulate_wait_groups(unsigned but) {
    unsigned left = 0;
    for (unsigned n = 0; n < emu_fetched[emu_now]; n++) {
        EmuFetch f = emu_fetches[emu_now][n];
        if (f.group + but >= emu_groups[emu_now]) emu_fetches[emu_now][left++] = f;
        else if (f.from) memcpy(f.to, f.from, f.bytes);
        else memset(f.to, 0, f.bytes);
    }
    emu_fetched[emu_now] = left;
}
inline void emulate_wait_fetched() {
    emulate_group_fetched();
    emulate_wait_groups(0);
}

// Blocks, and threads between two barriers, run from the last to the first if EMU_BACKWARDS is set: what depends on
// their order shows.
static bool emu_backwards = getenv("EMU_BACKWARDS") != nullptr;

static void emu_start(unsigned fibre) {
    EmuFibre& f = emu_fibres[fibre];
    if (!f.stack) f.stack = (char*)aligned_alloc(64, EMU_STACK);
    f.finished = false;
    uint64_t* sp = (uint64_t*)(f.stack + EMU_STACK) - 2;
    *sp = (uint64_t)(void*)emu_entry;  // rsp is 16-aligned + 8 on entry, as after a call
    for (int i = 0; i < 6; i++) *--sp = 0;
    f.sp = sp;
}

// Runs a block until all its threads have ended or wait for the cluster.
static void emu_run_block(unsigned number) {
    EmuBlock& block = emu_blocks[number];
    while (block.left > block.meet) {
        for (unsigned nth = 0; nth < emu_threads; nth++) {
            unsigned n = number * emu_threads + (emu_backwards ? emu_threads - 1 - nth : nth);
            if (emu_fibres[n].finished) continue;
            emu_become(n);
            emu_switch(&emu_main, emu_fibres[n].sp);
        }
    }
}

static void emu_run_cluster(unsigned blocks) {
    for (unsigned n = 0; n < blocks; n++) emu_blocks[n].left = emu_threads, emu_blocks[n].arrived = emu_blocks[n].meet = 0;
    for (unsigned n = 0; n < blocks * emu_threads; n++) {
        emu_warp_arrived[n / 32] = 0;
        emu_warp_left[n / 32] = min(emu_threads - n % emu_threads / 32 * 32, 32u);
        emu_start(n);
    }
    for (bool left = true; left;) {
        for (unsigned n = 0; n < blocks; n++) emu_run_block(emu_backwards ? blocks - 1 - n : n);
        left = false;
        for (unsigned n = 0; n < blocks; n++) left = left || emu_blocks[n].left, emu_blocks[n].meet = 0;
        emu_meetings++;
    }
}

// Blocks that follow each other in y are a cluster.
struct EmuLaunch { dim3e grid, block; size_t shared; unsigned cluster; };

template <class... A, size_t... I>
std::function<void()> emu_bind(void (*f)(A...), void** p, std::index_sequence<I...>) {
    auto values = std::make_tuple((*(A*)p[I])...);
    return [f, values] { std::apply(f, values); };
}

template <class... A> std::function<void()> emu_prepare(void (*f)(A...), void** p, EmuLaunch launch) {
    auto body = emu_bind(f, p, std::index_sequence_for<A...>{});
    return [body, launch]() mutable {
        unsigned cluster = launch.cluster, threads = launch.block.x * launch.block.y * launch.block.z;
        if (threads > 1024) emu_die("more than 1024 threads");
        if (cluster > EMU_CLUSTER || cluster * threads > EMU_THREADS || launch.grid.y % cluster) emu_die("no such cluster");
        if (launch.shared > (227u << 10)) emu_die("more shared memory than an SM has");
        for (unsigned n = 0; n < cluster; n++) {
            EmuBlock& block = emu_blocks[n];
            if (block.size < launch.shared + 16) {
                free(block.memory);
                block.size = (launch.shared + 31) / 16 * 16;
                block.memory = (char*)aligned_alloc(16, block.size);
            }
            memset(block.memory, 0xff, launch.shared);
        }
        gridDim = launch.grid;
        blockDim = launch.block;
        emu_threads = threads;
        emu_body = &body;
        unsigned clusters = gridDim.x * gridDim.y * gridDim.z / cluster;
        for (unsigned nth = 0; nth < clusters; nth++) {
            unsigned n = emu_backwards ? clusters - 1 - nth : nth, high = gridDim.y / cluster;
            for (unsigned y = 0; y < cluster; y++)
                emu_blocks[y].index = {n % gridDim.x, n / gridDim.x % high * cluster + y, n / gridDim.x / high};
            emu_run_cluster(cluster);
        }
    };
}

// What a name expression stands for: a kernel, its parameters, or a variable.
template <class... A> std::function<void()> emu_any(void (*f)(A...), void** p, EmuLaunch l) { return emu_prepare(f, p, l); }
template <class T> std::function<void()> emu_any(T*, void**, EmuLaunch) { return nullptr; }
template <class... A> int emu_parameter(void (*)(A...), size_t at, size_t* offset, size_t* size) {
    size_t sizes[] = {sizeof(A)..., 0}, aligns[] = {alignof(A)..., 1}, next = 0;
    if (at >= sizeof...(A)) return 1;
    for (size_t n = 0; n <= at; n++) {
        next = (next + aligns[n] - 1) / aligns[n] * aligns[n];
        *offset = next;
        next += *size = sizes[n];
    }
    return 0;
}
template <class T> int emu_parameter(T*, size_t, size_t*, size_t*) { return 1; }
template <class... A> size_t emu_size(void (*)(A...)) { return 0; }
template <class T> size_t emu_size(T*) { return sizeof(T); }
#define EMU_NAME(symbol, ...)                                                                                          \
    extern "C" std::function<void()> emu__##symbol(void** p, EmuLaunch l) { return emu_any(&__VA_ARGS__, p, l); }       \
    extern "C" int emup__##symbol(size_t at, size_t* o, size_t* s) { return emu_parameter(&__VA_ARGS__, at, o, s); }    \
    extern "C" void* emuv__##symbol() { return (void*)&__VA_ARGS__; }                                                   \
    extern "C" size_t emus__##symbol() { return emu_size(&__VA_ARGS__); }
