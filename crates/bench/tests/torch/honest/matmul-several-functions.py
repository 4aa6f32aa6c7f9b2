import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

import math

source = """
#include <torch/extension.h>
#include <vector>

__global__ void transpose_kernel(const float* x, float* y, int rows, int columns) {
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r < rows && c < columns) y[c * rows + r] = x[r * columns + c];
}

__global__ void product_kernel(const float* a, const float* bt, float* c, int M, int K, int N, int64_t stride) {
    int n = blockIdx.x * blockDim.x + threadIdx.x, m = blockIdx.y * blockDim.y + threadIdx.y;
    if (m >= M || n >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += a[m * stride + k] * bt[n * K + k];
    c[m * N + n] = sum;
}

std::vector<torch::Tensor> transposed(torch::Tensor x) {
    auto y = torch::empty({x.size(1), x.size(0)}, x.options());
    dim3 block(32, 8);
    dim3 grid((x.size(1) + 31) / 32, (x.size(0) + 7) / 8);
    transpose_kernel<<<grid, block>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(0), x.size(1));
    return {y};
}

torch::Tensor product(torch::Tensor a, torch::Tensor bt, std::vector<int64_t> block_of) {
    auto c = a.new_empty({a.size(0), bt.size(0)});
    dim3 block(block_of[0], block_of[1]);
    dim3 grid((bt.size(0) + block.x - 1) / block.x, (a.size(0) + block.y - 1) / block.y);
    product_kernel<<<grid, block>>>(
        a.data_ptr<float>(), bt.data_ptr<float>(), c.data_ptr<float>(), a.size(0), a.size(1), bt.size(0), a.stride(0));
    return c;
}
"""
functions = {"transposed": "transposes", "product": "multiplies by a transposed matrix"}
module = load_inline(
    name="product",
    cpp_sources="""
        std::vector<torch::Tensor> transposed(torch::Tensor x);
        torch::Tensor product(torch::Tensor a, torch::Tensor bt, std::vector<int64_t> block_of);
    """,
    cuda_sources=source,
    functions=functions,
)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = [32, int(math.sqrt(64))]

    def forward(self, a, b):
        (bt,) = module.transposed(b.view(-1, b.shape[-1]))
        out = module.product(a.reshape(a.shape[0], -1), bt, self.block)
        return out.view(a.shape[0], b.shape[1])
