// A generic map kernel: the functor is a template argument that the call deduces.
#include <cuda_runtime.h>

template <typename T>
struct Relu {
    T floor;
    __host__ __device__ explicit Relu(T floor) : floor(floor) {}
    __device__ T operator()(T v) const { return v > floor ? v : floor; }
};

template <typename Function, typename T>
__global__ void map(const T *__restrict__ in, T *__restrict__ out, long long count, Function function) {
    const auto step = (long long)gridDim.x * blockDim.x;
    auto apply = [&](long long at) { out[at] = function(in[at]); };
    for (auto at = (long long)blockIdx.x * blockDim.x + threadIdx.x; at < count; at += step) apply(at);
}

extern "C" void solve(const float *x, float *y, long long n) {
    const Relu<float> relu(0.0f);
    map<<<2048, 256>>>(x, y, n, relu);
}
