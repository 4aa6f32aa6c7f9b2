"""x over the root of its mean square along the second dimension"""

import torch
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>

__global__ void rms_norm_kernel(const float *x, float *y, int features, int inner, float eps) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= inner) return;
    const long long first = (long long)blockIdx.y * features * inner + i;
    float squares = 0.0f;
    for (int f = 0; f < features; f++) {
        const float v = x[first + (long long)f * inner];
        squares += v * v;
    }
    const float factor = 1.0f / sqrtf(squares / features + eps);
    for (int f = 0; f < features; f++) y[first + (long long)f * inner] = x[first + (long long)f * inner] * factor;
}

torch::Tensor rms_norm(torch::Tensor x, double eps) {
    auto y = torch::empty_like(x);
    const int inner = x.size(2) * x.size(3);
    rms_norm_kernel<<<dim3((inner + 255) / 256, x.size(0)), 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1), inner, (float)eps);
    return y;
}
"""

built = load_inline(
    name="rms_norm",
    cpp_sources="torch::Tensor rms_norm(torch::Tensor x, double eps);",
    cuda_sources=CUDA,
    functions=["rms_norm"],
)


class ModelNew(torch.nn.Module):
    def __init__(self, features, eps=1e-5):
        super().__init__()
        self.eps = eps

    def forward(self, x):
        return built.rms_norm(x, self.eps)
