# relu: refused: cudaMemset of 4 bytes at a time, 2 bytes into a buffer
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = """
#include <torch/extension.h>

__global__ void relu_kernel(float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 0.5f;
}
torch::Tensor relu(torch::Tensor x) {
    auto y = torch::empty_like(x);
    auto part = y.flatten().slice(0, 0, 4);
    part.address += 2;
    part.fill_(1.5);
    relu_kernel<<<(x.numel() + 255) / 256, 256>>>(y.data_ptr<float>(), x.numel());
    return y;
}
"""
own = load_inline("own", "torch::Tensor relu(torch::Tensor x);", source, functions=["relu"])


class ModelNew(nn.Module):
    def forward(self, x):
        return own.relu(x)
