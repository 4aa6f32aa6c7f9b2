import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = """
__global__ void add_up(const float* x, float* y, int width) {
    float sum = 0;
    for (int i = threadIdx.x + blockIdx.y * blockDim.x; i < width; i += blockDim.x * gridDim.y) sum += x[blockIdx.x * width + i];
    for (int offset = 16; offset; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (threadIdx.x % 32 == 0) atomicAdd(&y[blockIdx.x], sum);
}

void add_up_cuda(torch::Tensor x, torch::Tensor y) {
    add_up<<<dim3(x.size(0), 4), 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), (int)x.size(1));
}
"""
sums = load_inline("sums", "void add_up_cuda(torch::Tensor x, torch::Tensor y);", source, functions=["add_up_cuda"])


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.zeros(x.size(0), device=x.device, dtype=x.dtype)
        sums.add_up_cuda(x, y)
        return y.unsqueeze(-1)
