"""x, cut at -1 and 1"""

import torch
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>

__device__ float hard_tanh_of(float v) {
    return fminf(fmaxf(v, -1.0f), 1.0f);
}

__global__ void hard_tanh_kernel(const float4 *x, float4 *y, long long quads) {
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= quads) return;
    float4 v = x[i];
    v.x = hard_tanh_of(v.x);
    v.y = hard_tanh_of(v.y);
    v.z = hard_tanh_of(v.z);
    v.w = hard_tanh_of(v.w);
    y[i] = v;
}

torch::Tensor hard_tanh(torch::Tensor x) {
    TORCH_CHECK(x.numel() % 4 == 0, "whole float4s");
    auto y = torch::empty_like(x);
    const long long quads = x.numel() / 4;
    hard_tanh_kernel<<<(quads + 255) / 256, 256>>>((const float4 *)x.data_ptr<float>(), (float4 *)y.data_ptr<float>(), quads);
    return y;
}
"""

built = load_inline(
    name="hard_tanh",
    cpp_sources="torch::Tensor hard_tanh(torch::Tensor x);",
    cuda_sources=CUDA,
    functions=["hard_tanh"],
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return built.hard_tanh(x)
