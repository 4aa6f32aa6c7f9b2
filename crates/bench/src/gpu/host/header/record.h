// What is recorded, and how: events in a buffer that the recorder writes to a descriptor of its own.
// Whoever reads them trusts none of it.
#pragma once

namespace hotloop {

// An event is its kind, the bytes of what follows, and what follows.
enum Kind : uint32_t {
    REFUSED = 1,  // text
    ALLOCATED,    // address, bytes
    FREED,        // address
    VARIABLE,     // address, address of the host's variable
    LAUNCHED,     // a Launch, then for each argument its size and bytes
    SET,          // address, bytes, size of the pattern, pattern
    COPIED,       // to, from, bytes
    WRITTEN,      // address, data
    SHARED,       // address in a kernel, bytes of dynamic shared memory that it may have
    FAILED,       // address in a kernel or zero, text: a call that a real runtime would refuse
    ENDED,
    RETURNED,     // of a torch extension's function: values
    RAISED,       // of a torch extension's function: text of its exception
};

struct Launch {
    uint64_t kernel;
    uint32_t grid[3], block[3], cluster[3];
    uint32_t cooperative;
    uint64_t shared;
    uint32_t arguments;
    uint32_t padding;
};

struct Configuration {
    dim3 grid, block, cluster;
    size_t shared;
    bool cooperative, has_cluster;
};

// Of the GPU that the host code may ask for.
struct Traits {
    char name[256];
    uint64_t memory_bytes, shared_per_block, shared_per_block_optin, shared_per_multiprocessor,
        constant_bytes;
    int32_t major, minor, multiprocessors, registers_per_multiprocessor, threads_per_block,
        threads_per_multiprocessor, blocks_per_multiprocessor, l2_bytes, clock_khz,
        memory_clock_khz, memory_bus_bits;
};
extern Traits traits;

void event(Kind kind, const void *first, size_t first_bytes, const void *second = nullptr, size_t second_bytes = 0);
[[noreturn]] void refuse(const char *why);
[[noreturn]] void refuse_of(const char *call, const char *why);
// Remembers an error as the runtime does.
cudaError_t fail(cudaError_t error);
cudaError_t last_error(bool forget);

void *allocate(size_t bytes);
// The address that stands for a variable of the GPU.
void *variable(const void *host);

void push(const Configuration &configuration);
// The sizes of a kernel's arguments, asked of its stub; how many, and an address in the stub.
struct Asked {
    const void *kernel;
    uint32_t count;
    uint32_t sizes[256];
};
const Asked *ask(const void *kernel);
bool answer(const void *kernel, const uint32_t *sizes, uint32_t count);
cudaError_t launch_values(const void *kernel, const void *const *values, const uint32_t *sizes, uint32_t count);

inline bool is_device(const void *address) { return (uint64_t)address >> 56 == 0x5a; }

inline void configure(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t = nullptr) {
    push({grid, block, dim3(), shared, false, false});
}

template <class T>
constexpr uint32_t size_of() {
    static_assert(!std::is_reference<T>::value, "a kernel takes its parameters by value");
    return sizeof(T);
}

template <class... Ts>
__attribute__((noinline)) bool only_asked() {
    static const uint32_t sizes[] = {size_of<Ts>()..., 0};
    return answer(__builtin_return_address(0), sizes, sizeof...(Ts));
}

template <class... Ts>
__attribute__((noinline)) void launch(const Ts &...values) {
    const void *addresses[] = {(const void *)__builtin_addressof(values)..., nullptr};
    static const uint32_t sizes[] = {size_of<Ts>()..., 0};
    launch_values(__builtin_return_address(0), addresses, sizes, sizeof...(Ts));
}

}  // namespace hotloop
