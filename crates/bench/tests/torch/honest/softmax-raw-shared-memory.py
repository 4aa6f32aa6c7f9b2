import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_src = """
#include <torch/extension.h>
#include <ATen/AccumulateType.h>

namespace my_ops {

template <typename acc_t>
struct MaxOp {
    static constexpr __device__ acc_t identity() { return -1e30f; }
    __device__ acc_t operator()(acc_t a, acc_t b) const { return a > b ? a : b; }
};
template <typename acc_t>
struct SumOp {
    static constexpr __device__ acc_t identity() { return 0; }
    __device__ acc_t operator()(acc_t a, acc_t b) const { return a + b; }
};

template <template <typename> class Op, typename acc_t>
__device__ acc_t block_reduce(acc_t value, acc_t* shared) {
    const Op<acc_t> op;
    shared[threadIdx.x] = value;
    __syncthreads();
    for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) shared[threadIdx.x] = op(shared[threadIdx.x], shared[threadIdx.x + s]);
        __syncthreads();
    }
    const acc_t result = shared[0];
    __syncthreads();
    return result;
}

template <typename scalar_t, typename acc_t = float>
__global__ void softmax_forward(scalar_t* out, const scalar_t* in, int dim_size) {
    extern __shared__ __align__(sizeof(double)) unsigned char smem[];
    acc_t* shared = reinterpret_cast<acc_t*>(smem);
    in += static_cast<int64_t>(blockIdx.x) * dim_size;
    out += static_cast<int64_t>(blockIdx.x) * dim_size;
    acc_t most = MaxOp<acc_t>::identity();
    for (int i = threadIdx.x; i < dim_size; i += blockDim.x) most = MaxOp<acc_t>()(most, static_cast<acc_t>(in[i]));
    most = block_reduce<MaxOp, acc_t>(most, shared);
    acc_t sum = 0;
    for (int i = threadIdx.x; i < dim_size; i += blockDim.x) sum += std::exp(static_cast<acc_t>(in[i]) - most);
    sum = block_reduce<SumOp, acc_t>(sum, shared);
    for (int i = threadIdx.x; i < dim_size; i += blockDim.x)
        out[i] = static_cast<scalar_t>(std::exp(static_cast<acc_t>(in[i]) - most) / sum);
}

int next_power_of_two(int n) {
    int p = 1;
    while (p < n) p <<= 1;
    return p;
}

}  // namespace my_ops

using at::Tensor;

Tensor softmax_cuda(const Tensor& input_, const int64_t dim_, const bool half_to_float) {
    auto input = input_.contiguous();
    const int64_t dim = at::maybe_wrap_dim(dim_, input.dim());
    TORCH_CHECK(dim == input.dim() - 1);
    TORCH_CHECK(!half_to_float);
    Tensor output = at::empty_like(input, LEGACY_CONTIGUOUS_MEMORY_FORMAT);
    const int dim_size = input.size(dim);
    const int64_t outer = input.numel() / dim_size;
    const int threads = std::min(my_ops::next_power_of_two(dim_size), 512);
    AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, input.scalar_type(), "softmax_cuda", [&]() {
        using accscalar_t = float;
        my_ops::softmax_forward<scalar_t, accscalar_t><<<dim3(outer), threads, threads * sizeof(accscalar_t)>>>(
            output.data_ptr<scalar_t>(), input.data_ptr<scalar_t>(), dim_size);
    });
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return output;
}
"""
ext = load_inline(
    name="soft", cpp_sources=["at::Tensor softmax_cuda(const at::Tensor& input_, const int64_t dim_, const bool half_to_float);"],
    cuda_sources=[cuda_src], functions=["softmax_cuda"], verbose=False,
)


class ModelNew(nn.Module):
    def __init__(self):
        super(ModelNew, self).__init__()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.device.type != "cuda":
            raise RuntimeError("CUDA only")
        return ext.softmax_cuda(x, -1, False)
