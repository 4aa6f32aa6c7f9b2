import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = """
#include <torch/extension.h>
#include <cuda_bf16.h>

__global__ void relu_kernel(const float* x, float* y, int n, const float* table, const float* half, const double* wide,
                            const __nv_bfloat16* third) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], table[0] * half[0] * (float)wide[0] * (float)third[0]);
}
torch::Tensor relu(torch::Tensor x, torch::Tensor table, torch::Tensor half, torch::Tensor wide, torch::Tensor third) {
    auto y = torch::empty_like(x);
    relu_kernel<<<(x.numel() + 255) / 256, 256>>>(
        x.data_ptr<float>(), y.data_ptr<float>(), x.numel(), table.data_ptr<float>(), half.data_ptr<float>(),
        wide.data_ptr<double>(), (const __nv_bfloat16*)third.data_ptr());
    return y;
}
"""
declaration = """
torch::Tensor relu(torch::Tensor x, torch::Tensor table, torch::Tensor half, torch::Tensor wide, torch::Tensor third);
"""
own = load_inline("own", declaration, source, functions=["relu"])


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.zeros(8)
        self.table[2:4].fill_(1.0)
        self.table[5] = -1.0
        self.half = torch.empty(4)
        self.half.copy_(torch.full((4,), 0.5))
        self.wide = torch.zeros(4).double()
        self.third = torch.full((4,), 1 / 3, dtype=torch.bfloat16)

    def forward(self, x):
        return own.relu(x, self.table.cuda(), self.half.cuda(), self.wide.cuda(), self.third.cuda())
