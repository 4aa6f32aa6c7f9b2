"""A times a number"""

import torch
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>

__global__ void scale_kernel(const float4 *a, float4 *c, float s, long long quads) {
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= quads) return;
    const float4 v = a[i];
    c[i] = make_float4(v.x * s, v.y * s, v.z * s, v.w * s);
}

torch::Tensor scale(torch::Tensor a, double s) {
    TORCH_CHECK(a.numel() % 4 == 0, "whole float4s");
    auto c = torch::empty_like(a);
    const long long quads = a.numel() / 4;
    scale_kernel<<<(quads + 255) / 256, 256>>>((const float4 *)a.data_ptr<float>(), (float4 *)c.data_ptr<float>(), (float)s, quads);
    return c;
}
"""

built = load_inline(
    name="scale",
    cpp_sources="torch::Tensor scale(torch::Tensor a, double s);",
    cuda_sources=CUDA,
    functions=["scale"],
)


class ModelNew(torch.nn.Module):
    def forward(self, a, s):
        return built.scale(a, s)
