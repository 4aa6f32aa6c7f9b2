# doubles: correct: 
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = """
#include <torch/extension.h>
__global__ void rows(const double* x, double* y, int width) {
    double sum = 0.0;
    for (int i = threadIdx.x; i < width; i += blockDim.x) {
        const double v = x[blockIdx.x * width + i];
        sum += v;
    }
    __shared__ double parts[32];
    parts[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        double all = 0.0;
        for (int i = 0; i < 32; i++) all += parts[i];
        y[blockIdx.x] = all;
    }
}

torch::Tensor made(torch::Tensor x) {
    auto y = torch::empty({x.size(0)}, x.options());
    rows<<<x.size(0), 32>>>(x.data_ptr<double>(), y.data_ptr<double>(), (int)x.size(1));
    return y;
}
"""
module = load_inline(name="made", cpp_sources="torch::Tensor made(torch::Tensor x);", cuda_sources=source, functions=["made"])


class ModelNew(nn.Module):
    def forward(self, x):
        return module.made(x)
