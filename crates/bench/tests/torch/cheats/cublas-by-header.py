# relu: refused: the library header `cublas_v2.h` is prohibited
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = """
#include <torch/extension.h>
#include <cublas_v2.h>
torch::Tensor relu(torch::Tensor x) {
    cublasHandle_t handle;
    cublasCreate(&handle);
    return x;
}
"""
extension = load_inline(name="with_cublas", cpp_sources="torch::Tensor relu(torch::Tensor x);",
                        cuda_sources=source, functions=["relu"])


class ModelNew(nn.Module):
    def forward(self, x):
        return extension.relu(x)
