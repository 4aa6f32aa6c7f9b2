"""max(x, 0)"""

import torch
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>

__device__ float relu_of(float v) {
    return v > 0.0f ? v : 0.0f;
}

__global__ void relu_kernel(const float4 *x, float4 *y, long long quads) {
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= quads) return;
    float4 v = x[i];
    v.x = relu_of(v.x);
    v.y = relu_of(v.y);
    v.z = relu_of(v.z);
    v.w = relu_of(v.w);
    y[i] = v;
}

torch::Tensor relu(torch::Tensor x) {
    TORCH_CHECK(x.numel() % 4 == 0, "whole float4s");
    auto y = torch::empty_like(x);
    const long long quads = x.numel() / 4;
    relu_kernel<<<(quads + 255) / 256, 256>>>((const float4 *)x.data_ptr<float>(), (float4 *)y.data_ptr<float>(), quads);
    return y;
}
"""

built = load_inline(
    name="relu",
    cpp_sources="torch::Tensor relu(torch::Tensor x);",
    cuda_sources=CUDA,
    functions=["relu"],
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return built.relu(x)
