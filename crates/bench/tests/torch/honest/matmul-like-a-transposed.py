import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = """
#include <torch/extension.h>

__global__ void multiply(const float* a, const float* b, float* c, int m, int n, int k) {
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    if (row >= m || column >= n) return;
    float sum = 0;
    for (int i = 0; i < k; i++) sum += a[row * k + i] * b[i * n + column];
    c[row * n + column] = sum;
}
torch::Tensor matmul(torch::Tensor a, torch::Tensor b) {
    const int m = a.size(0), k = a.size(1), n = b.size(1);
    auto wanted = torch::empty({m, n}, a.options());
    // Memory that lies like a transposed one, cleared and seen the other way round.
    auto c = torch::zeros_like(wanted.t()).t();
    TORCH_CHECK(c.is_contiguous() && c.clone().t().stride(0) == 1);
    multiply<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(
        a.data_ptr<float>(), b.data_ptr<float>(), c.data_ptr<float>(), m, n, k);
    return c.t();
}
"""
own = load_inline("own", "torch::Tensor matmul(torch::Tensor a, torch::Tensor b);", source, functions=["matmul"])


class ModelNew(nn.Module):
    def forward(self, a, b):
        c = own.matmul(a, b)
        assert c.stride() == (1, c.shape[0]) and torch.empty_like(c).stride() == c.stride()
        return c.t()
