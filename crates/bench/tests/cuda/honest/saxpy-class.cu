// The launch lives in a method of a class inside a namespace; the stream is the class's own.
#include <cuda_runtime.h>

namespace blas {
namespace detail {

__global__ void axpy(float alpha, const float *x, const float *y, float *out, int length) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < length; i += blockDim.x * gridDim.x) {
        out[i] = __fadd_rn(__fmul_rn(alpha, x[i]), y[i]);
    }
}

}  // namespace detail

class Axpy {
  public:
    explicit Axpy(float alpha) : alpha_(alpha) { cudaStreamCreate(&stream_); }
    ~Axpy() { cudaStreamDestroy(stream_); }

    void operator()(const float *x, const float *y, float *out, int length) const {
        const dim3 grid(blocks(length)), block(threads_per_block);
        detail::axpy<<<grid, block, 0, stream_>>>(alpha_, x, y, out, length);
        cudaStreamSynchronize(stream_);
    }

  private:
    static constexpr int threads_per_block = 256;
    static int blocks(int length) {
        const int wanted = (length + threads_per_block - 1) / threads_per_block;
        return wanted < 4096 ? wanted : 4096;
    }
    float alpha_;
    cudaStream_t stream_;
};

}  // namespace blas

extern "C" void solve(float a, const float *x, const float *y, float *z, int n) {
    blas::Axpy axpy(a);
    axpy(x, y, z, n);
}
