# kept: correct: 
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = """
#include <torch/extension.h>
#include <cuda_fp16.h>

__global__ void kept(const __half* x, __half* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float v = __half2float(x[i]);
    y[i] = __float2half(fmaxf(v, 0.0f));
}

torch::Tensor made(torch::Tensor x) {
    auto y = torch::empty_like(x);
    const int n = x.numel();
    kept<<<(n + 255) / 256, 256>>>((__half*)x.data_ptr<at::Half>(), (__half*)y.data_ptr<at::Half>(), n);
    return y;
}
"""
module = load_inline(name="made", cpp_sources="torch::Tensor made(torch::Tensor x);", cuda_sources=source, functions=["made"])


class ModelNew(nn.Module):
    def forward(self, x):
        return module.made(x)
