"""x times the normal distribution's share below it"""

import torch
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>

__device__ float gelu_of(float v) {
    return 0.5f * v * (1.0f + erff(v * 0.70710678f));
}

__global__ void gelu_kernel(const float4 *x, float4 *y, long long quads) {
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= quads) return;
    float4 v = x[i];
    v.x = gelu_of(v.x);
    v.y = gelu_of(v.y);
    v.z = gelu_of(v.z);
    v.w = gelu_of(v.w);
    y[i] = v;
}

torch::Tensor gelu(torch::Tensor x) {
    TORCH_CHECK(x.numel() % 4 == 0, "whole float4s");
    auto y = torch::empty_like(x);
    const long long quads = x.numel() / 4;
    gelu_kernel<<<(quads + 255) / 256, 256>>>((const float4 *)x.data_ptr<float>(), (float4 *)y.data_ptr<float>(), quads);
    return y;
}
"""

built = load_inline(
    name="gelu",
    cpp_sources="torch::Tensor gelu(torch::Tensor x);",
    cuda_sources=CUDA,
    functions=["gelu"],
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return built.gelu(x)
