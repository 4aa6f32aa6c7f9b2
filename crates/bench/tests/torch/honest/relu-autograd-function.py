import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

from typing import Any

source = """
#include <torch/extension.h>
__global__ void relu(const float4* x, float4* y, int quarters) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < quarters) {
        float4 v = x[i];
        y[i] = make_float4(fmaxf(v.x, 0.f), fmaxf(v.y, 0.f), fmaxf(v.z, 0.f), fmaxf(v.w, 0.f));
    }
}
void relu_out(torch::Tensor y, torch::Tensor x) {
    TORCH_CHECK(x.numel() % 4 == 0);
    int quarters = x.numel() / 4;
    relu<<<(quarters + 511) / 512, 512>>>(
        reinterpret_cast<const float4*>(x.data_ptr<float>()), reinterpret_cast<float4*>(y.data_ptr<float>()), quarters);
}
"""
relu = load_inline("relu", "void relu_out(torch::Tensor y, torch::Tensor x);", source, functions=["relu_out"])


class Relu(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        y = torch.empty_like(x)
        relu.relu_out(y, x)
        return y

    @staticmethod
    def backward(ctx, gradient):
        raise NotImplementedError


class ModelNew(nn.Module):
    def forward(self, x):
        return Relu.apply(x)


def get_inputs():
    return [torch.randn(1024, 4096)]


def get_init_inputs():
    return []


if __name__ == "__main__":
    print(ModelNew()(*get_inputs()).sum())
