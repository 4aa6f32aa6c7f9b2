import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = """
#include <torch/extension.h>

__global__ void conv_kernel(
    const float* x, const float* w, const float* b, float* y,
    int N, int C, int H, int W, int K, int R, int S, int P, int Q, int stride, int padding)
{
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= N * K * P * Q) return;
    int q = index % Q, p = index / Q % P, k = index / Q / P % K, n = index / Q / P / K;
    float sum = b != nullptr ? b[k] : 0.0f;
    for (int c = 0; c < C; ++c)
        for (int r = 0; r < R; ++r)
            for (int s = 0; s < S; ++s) {
                int h = p * stride - padding + r, v = q * stride - padding + s;
                if (h >= 0 && h < H && v >= 0 && v < W)
                    sum += x[((n * C + c) * H + h) * W + v] * w[((k * C + c) * R + r) * S + s];
            }
    y[index] = sum;
}

torch::Tensor conv2d_forward(torch::Tensor x, torch::Tensor w, c10::optional<torch::Tensor> b, int64_t stride, int64_t padding) {
    int N = x.size(0), C = x.size(1), H = x.size(2), W = x.size(3);
    int K = w.size(0), R = w.size(2), S = w.size(3);
    int P = (H + 2 * padding - R) / stride + 1, Q = (W + 2 * padding - S) / stride + 1;
    auto y = torch::empty({N, K, P, Q}, torch::TensorOptions().dtype(x.dtype()).device(x.device()));
    const float* bias = b.has_value() && b->defined() ? b->data_ptr<float>() : nullptr;
    int count = N * K * P * Q;
    conv_kernel<<<(count + 255) / 256, 256>>>(
        x.data_ptr<float>(), w.data_ptr<float>(), bias, y.data_ptr<float>(),
        N, C, H, W, K, R, S, P, Q, (int)stride, (int)padding);
    return y;
}
"""
declaration = (
    "torch::Tensor conv2d_forward(torch::Tensor x, torch::Tensor w, "
    "c10::optional<torch::Tensor> b, int64_t stride, int64_t padding);"
)
conv = load_inline("conv", declaration, source, functions=["conv2d_forward"], extra_cflags=["-O3"])


class ModelNew(nn.Module):
    def __init__(self, inside, outside, size, stride=1, padding=0):
        super().__init__()
        self.conv = nn.Conv2d(inside, outside, size, stride=stride, padding=padding)

    def forward(self, x):
        layer = self.conv
        return conv.conv2d_forward(x, layer.weight, layer.bias, layer.stride[0], layer.padding[0])
