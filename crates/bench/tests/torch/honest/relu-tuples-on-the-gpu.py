import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = """
#include <torch/extension.h>
#include <tuple>

__device__ __forceinline__ std::tuple<float, int> split(float value) {
    return std::make_tuple(fabsf(value), value > 0 ? 1 : 0);
}
__device__ std::pair<float, float> both(float value) { return {value, -value}; }

__global__ void relu_kernel(const float* x, float* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float size, same;
    int is_kept;
    std::tie(size, is_kept) = split(x[i]);
    std::tie(same, std::get<0>(std::tie(size))) = both(size);
    auto [again, kept] = split(x[i]);
    std::tuple<float, float> sums{again, 0.0f};
    std::get<1>(sums) += kept * is_kept;
    y[i] = std::get<0>(sums) * std::get<1>(sums);
}

torch::Tensor relu_forward(torch::Tensor x) {
    auto y = torch::empty_like(x);
    const int n = x.numel();
    relu_kernel<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
    return y;
}
"""
relu = load_inline("relu", "torch::Tensor relu_forward(torch::Tensor x);", source, functions=["relu_forward"])


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return relu.relu_forward(x)
