import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.cpp_extension import load_inline

cuda_source = '''
#include <torch/extension.h>
#include <cuda.h>
#include <cuda_runtime.h>
#include <vector>

#define CHECK_CUDA(x) TORCH_CHECK(x.device().is_cuda(), #x " must be a CUDA tensor")
#define CHECK_CONTIGUOUS(x) TORCH_CHECK(x.is_contiguous(), #x " must be contiguous")
#define CHECK_INPUT(x) CHECK_CUDA(x); CHECK_CONTIGUOUS(x)

constexpr int THREADS = 256;

namespace {
template <typename T, int VEC>
struct alignas(sizeof(T) * VEC) Vec {
    T val[VEC];
};

template <int VEC>
__global__ void __launch_bounds__(THREADS) relu_vec_kernel(const float* __restrict__ in, float* __restrict__ out, const int64_t n) {
    const int64_t stride = (int64_t)gridDim.x * blockDim.x * VEC;
    for (int64_t i = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * VEC; i + VEC <= n; i += stride) {
        Vec<float, VEC> v = *reinterpret_cast<const Vec<float, VEC>*>(in + i);
        #pragma unroll
        for (int j = 0; j < VEC; ++j) v.val[j] = v.val[j] > 0.f ? v.val[j] : 0.f;
        *reinterpret_cast<Vec<float, VEC>*>(out + i) = v;
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        for (int64_t i = n - n % VEC; i < n; ++i) out[i] = fmaxf(__ldg(in + i), 0.f);
    }
}
}  // namespace

std::vector<torch::Tensor> relu_forward(const torch::Tensor& input) {
    CHECK_INPUT(input);
    TORCH_CHECK(input.dtype() == torch::kFloat32, "expected float32, got ", input.scalar_type());
    torch::Tensor output = torch::empty(input.sizes(), torch::TensorOptions().dtype(input.dtype()).device(input.device()).requires_grad(false));
    const auto n = input.numel();
    const int blocks = static_cast<int>(std::min<int64_t>((n / 4 + THREADS - 1) / THREADS, 132 * 16));
    relu_vec_kernel<4><<<std::max(blocks, 1), THREADS, 0>>>(input.data_ptr<float>(), output.data_ptr<float>(), n);
    cudaError_t err = cudaGetLastError();
    if (err != cudaSuccess) {
        printf("CUDA error: %s\\n", cudaGetErrorString(err));
        throw std::runtime_error(std::string("relu failed: ") + cudaGetErrorString(err));
    }
    return {output};
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &relu_forward, "ReLU forward (CUDA)", py::arg("input"));
}
'''

relu_ext = load_inline(
    name='relu_ext',
    cpp_sources='',
    cuda_sources=cuda_source,
    extra_cuda_cflags=['-O3', '--use_fast_math', '-std=c++17'],
    verbose=False,
)


class ModelNew(nn.Module):
    """Optimised."""

    def __init__(self) -> None:
        super(ModelNew, self).__init__()
        self.relu_ext = relu_ext

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        assert x.is_cuda, "CUDA only"
        return self.relu_ext.forward(input=x.contiguous())[0]
