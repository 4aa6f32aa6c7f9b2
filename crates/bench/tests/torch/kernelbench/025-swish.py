"""x times its sigmoid"""

import torch
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>

__device__ float swish_of(float v) {
    return v / (1.0f + expf(-v));
}

__global__ void swish_kernel(const float4 *x, float4 *y, long long quads) {
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= quads) return;
    float4 v = x[i];
    v.x = swish_of(v.x);
    v.y = swish_of(v.y);
    v.z = swish_of(v.z);
    v.w = swish_of(v.w);
    y[i] = v;
}

torch::Tensor swish(torch::Tensor x) {
    TORCH_CHECK(x.numel() % 4 == 0, "whole float4s");
    auto y = torch::empty_like(x);
    const long long quads = x.numel() / 4;
    swish_kernel<<<(quads + 255) / 256, 256>>>((const float4 *)x.data_ptr<float>(), (float4 *)y.data_ptr<float>(), quads);
    return y;
}
"""

built = load_inline(
    name="swish",
    cpp_sources="torch::Tensor swish(torch::Tensor x);",
    cuda_sources=CUDA,
    functions=["swish"],
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return built.swish(x)
