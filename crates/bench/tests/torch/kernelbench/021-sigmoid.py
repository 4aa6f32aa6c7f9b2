"""1 / (1 + exp(-x))"""

import torch
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>

__device__ float sigmoid_of(float v) {
    return 1.0f / (1.0f + expf(-v));
}

__global__ void sigmoid_kernel(const float4 *x, float4 *y, long long quads) {
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= quads) return;
    float4 v = x[i];
    v.x = sigmoid_of(v.x);
    v.y = sigmoid_of(v.y);
    v.z = sigmoid_of(v.z);
    v.w = sigmoid_of(v.w);
    y[i] = v;
}

torch::Tensor sigmoid(torch::Tensor x) {
    TORCH_CHECK(x.numel() % 4 == 0, "whole float4s");
    auto y = torch::empty_like(x);
    const long long quads = x.numel() / 4;
    sigmoid_kernel<<<(quads + 255) / 256, 256>>>((const float4 *)x.data_ptr<float>(), (float4 *)y.data_ptr<float>(), quads);
    return y;
}
"""

built = load_inline(
    name="sigmoid",
    cpp_sources="torch::Tensor sigmoid(torch::Tensor x);",
    cuda_sources=CUDA,
    functions=["sigmoid"],
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return built.sigmoid(x)
