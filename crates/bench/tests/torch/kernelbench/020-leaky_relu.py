"""x where it is positive, and a hundredth of it elsewhere"""

import torch
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>

__device__ float leaky_relu_of(float v) {
    return v > 0.0f ? v : 0.01f * v;
}

__global__ void leaky_relu_kernel(const float4 *x, float4 *y, long long quads) {
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= quads) return;
    float4 v = x[i];
    v.x = leaky_relu_of(v.x);
    v.y = leaky_relu_of(v.y);
    v.z = leaky_relu_of(v.z);
    v.w = leaky_relu_of(v.w);
    y[i] = v;
}

torch::Tensor leaky_relu(torch::Tensor x) {
    TORCH_CHECK(x.numel() % 4 == 0, "whole float4s");
    auto y = torch::empty_like(x);
    const long long quads = x.numel() / 4;
    leaky_relu_kernel<<<(quads + 255) / 256, 256>>>((const float4 *)x.data_ptr<float>(), (float4 *)y.data_ptr<float>(), quads);
    return y;
}
"""

built = load_inline(
    name="leaky_relu",
    cpp_sources="torch::Tensor leaky_relu(torch::Tensor x);",
    cuda_sources=CUDA,
    functions=["leaky_relu"],
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return built.leaky_relu(x)
