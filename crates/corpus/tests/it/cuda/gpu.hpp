// A CPU that plays a GPU, for candidates of the corpus. The threads of a block are fibers on one thread of the CPU:
// a fiber runs until it waits, and waiting ends when all of its block, or of its warp, wait for the same.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <ucontext.h>
#include <vector>

#define __global__
#define __shared__ static

struct dim3 {
    unsigned x, y, z;
    dim3(long long x = 1, long long y = 1, long long z = 1) : x(x), y(y), z(z) {}
};
struct float2 { float x, y; };
struct alignas(16) float4 { float x, y, z, w; };
static float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
template <class T> static T __ldg(const T* p) { return *p; }
#define __expf expf
static float rsqrtf(float x) { return 1.0f / sqrtf(x); }

static dim3 gridDim, blockDim, blockIdx, threadIdx;

namespace gpu {
constexpr size_t STACK = 64 * 1024;
enum Wait { RUNS, BLOCK, WARP, DONE };
struct Fiber {
    ucontext_t context;
    Wait wait;
    dim3 thread;
    unsigned number;
};
static ucontext_t home;
static std::vector<Fiber> fibers;
static std::vector<char> stacks;
static const std::function<void()>* work;
static Fiber* now;
static float exchanged[1024];

static void enter() {
    (*work)();
    now->wait = DONE;
    swapcontext(&now->context, &home);
}

static void wait(Wait what) {
    Fiber* self = now;
    self->wait = what;
    swapcontext(&self->context, &home);
    threadIdx = self->thread;
}

// Lets go those who all wait for the same. Returns false if nobody can go on.
static bool release(size_t from, size_t to, Wait what) {
    size_t waiting = 0, alive = 0;
    for (size_t at = from; at < to; at++) {
        alive += fibers[at].wait != DONE;
        waiting += fibers[at].wait == what;
    }
    if (waiting == 0 || waiting < alive) return false;
    for (size_t at = from; at < to; at++)
        if (fibers[at].wait == what) fibers[at].wait = RUNS;
    return true;
}

static void block(size_t count) {
    fibers.resize(count);
    stacks.resize(count * STACK);
    for (size_t at = 0; at < count; at++) {
        Fiber& fiber = fibers[at];
        getcontext(&fiber.context);
        fiber.context.uc_stack.ss_sp = &stacks[at * STACK];
        fiber.context.uc_stack.ss_size = STACK;
        fiber.context.uc_link = nullptr;
        makecontext(&fiber.context, enter, 0);
        fiber.wait = RUNS;
        fiber.number = at;
        fiber.thread = dim3(at % blockDim.x, at / blockDim.x % blockDim.y, at / blockDim.x / blockDim.y);
    }
    for (;;) {
        bool ran = false, done = true;
        for (Fiber& fiber : fibers) {
            done = done && fiber.wait == DONE;
            if (fiber.wait != RUNS) continue;
            ran = true;
            now = &fiber;
            threadIdx = fiber.thread;
            swapcontext(&home, &fiber.context);
        }
        if (ran) continue;
        if (done) return;
        bool released = false;
        for (size_t warp = 0; warp < count; warp += 32)
            released = release(warp, std::min(warp + 32, count), WARP) || released;
        if (!released && !release(0, count, BLOCK)) {
            printf("some threads wait for ever\n");
            exit(1);
        }
    }
}

static void launch(bool waits, dim3 blocks, dim3 threads, const std::function<void()>& kernel) {
    size_t count = threads.x * threads.y * threads.z;
    if (count > 1024 || count == 0 || blocks.x == 0 || blocks.y == 0) {
        printf("a launch of %zu threads\n", count);
        exit(1);
    }
    gridDim = blocks;
    blockDim = threads;
    work = &kernel;
    for (unsigned y = 0; y < blocks.y; y++)
        for (unsigned x = 0; x < blocks.x; x++) {
            blockIdx = dim3(x, y);
            if (waits) {
                block(count);
                continue;
            }
            for (unsigned at = 0; at < count; at++) {
                threadIdx = dim3(at % threads.x, at / threads.x);
                kernel();
            }
        }
}
} // namespace gpu

static void __syncthreads() { gpu::wait(gpu::BLOCK); }
static float __shfl_xor_sync(unsigned, float value, int lane) {
    unsigned self = gpu::now->number;
    gpu::exchanged[self] = value;
    gpu::wait(gpu::WARP);
    float other = gpu::exchanged[self ^ (unsigned)lane];
    gpu::wait(gpu::WARP);
    return other;
}

static float drawn() { return (float)(rand() % 2001 - 1000) / 1000.0f; }
static std::vector<float> fill(size_t count) {
    std::vector<float> values(count + 4);
    for (float& value : values) value = drawn();
    return values;
}

// Compares `count` outputs, and checks that nothing behind them was written.
static bool same(const char* what, const std::vector<float>& out, const std::vector<double>& want, double bound) {
    for (size_t at = 0; at < want.size(); at++)
        if (!(std::fabs(out[at] - want[at]) <= bound * (1.0 + std::fabs(want[at])))) {
            printf("%s: element %zu is %g instead of %g\n", what, at, out[at], want[at]);
            return false;
        }
    for (size_t at = want.size(); at < out.size(); at++)
        if (!std::isnan(out[at])) {
            printf("%s: element %zu behind the end was written\n", what, at);
            return false;
        }
    return true;
}
static std::vector<float> poisoned(size_t count) { return std::vector<float>(count + 16, NAN); }
