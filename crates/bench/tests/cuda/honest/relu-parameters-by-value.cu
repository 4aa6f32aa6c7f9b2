// What a launch passes by value, and a tag that selects a kernel, are named by host code alone.
#include <cuda_runtime.h>
#include <string>
#include <vector>

#define BLOCK 256

struct Exact {};
enum class Order { forwards, backwards };

struct Host {
    std::string name;
    std::vector<cudaStream_t> streams;
    static int made;
    cudaEvent_t event = nullptr;
};
int Host::made = 0;

namespace detail {
struct Range {
    long long begin = 0, end = 0;
    constexpr long long length() const { return end - begin; }
    long long blocks() const { return std::max<long long>(1, (length() + BLOCK - 1) / BLOCK); }
};
template <class T>
struct Parameters {
    const T* from;
    T* to;
    Range range;
};
}  // namespace detail

template <class How, class P>
__global__ void relu(P p) {
    long long i = p.range.begin + blockIdx.x * (long long)BLOCK + threadIdx.x;
    if (i < p.range.end) p.to[i] = p.from[i] > 0.0f ? p.from[i] : 0.0f;
}

extern "C" void solve(const float* x, float* y, long long n) {
    Host host{"relu", {}};
    detail::Parameters<float> p{x, y, {0, n}};
    relu<Exact><<<(unsigned)p.range.blocks(), BLOCK>>>(p);
}
