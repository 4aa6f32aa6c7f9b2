import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda = """
#include <torch/extension.h>
#include <array>

struct ConvParams {
    int N, C, H, W, K, R, S, P, Q;
    int stride_h, stride_w, pad_h, pad_w;
};

__constant__ ConvParams cparams;

__global__ void conv2d_kernel(const float* __restrict__ input, const float* __restrict__ weight,
                              const float* __restrict__ bias, float* __restrict__ output, ConvParams p) {
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int nk = blockIdx.z;
    int k = nk % p.K, n = nk / p.K;
    if (q >= p.Q || y >= p.P) return;
    float value = bias ? bias[k] : 0.f;
    for (int c = 0; c < p.C; c++)
        for (int r = 0; r < p.R; r++) {
            int h = y * p.stride_h - p.pad_h + r;
            if (h < 0 || h >= p.H) continue;
            for (int s = 0; s < p.S; s++) {
                int w = q * p.stride_w - p.pad_w + s;
                if (w >= 0 && w < p.W)
                    value = fmaf(input[((n * p.C + c) * p.H + h) * p.W + w], weight[((k * p.C + c) * p.R + r) * p.S + s], value);
            }
        }
    output[((n * p.K + k) * p.P + y) * p.Q + q] = value;
}

torch::Tensor conv2d(torch::Tensor input, torch::Tensor weight, c10::optional<torch::Tensor> bias_opt,
                     std::vector<int64_t> stride, at::IntArrayRef padding) {
    auto bias = bias_opt.value_or(torch::Tensor());
    ConvParams p;
    p.N = input.size(0); p.C = input.size(1); p.H = input.size(2); p.W = input.size(3);
    p.K = weight.size(0); p.R = weight.size(2); p.S = weight.size(3);
    p.stride_h = stride[0]; p.stride_w = stride[1];
    p.pad_h = padding[0]; p.pad_w = padding[1];
    p.P = (p.H + 2 * p.pad_h - p.R) / p.stride_h + 1;
    p.Q = (p.W + 2 * p.pad_w - p.S) / p.stride_w + 1;
    auto output = at::empty({p.N, p.K, p.P, p.Q}, input.options());
    dim3 threads(32, 8);
    dim3 blocks((p.Q + threads.x - 1) / threads.x, (p.P + threads.y - 1) / threads.y, p.N * p.K);
    conv2d_kernel<<<blocks, threads>>>(input.data_ptr<float>(), weight.data_ptr<float>(),
        bias.defined() ? bias.data_ptr<float>() : nullptr, output.data_ptr<float>(), p);
    return output;
}
"""
cpp = """
torch::Tensor conv2d(torch::Tensor input, torch::Tensor weight, c10::optional<torch::Tensor> bias_opt,
                     std::vector<int64_t> stride, at::IntArrayRef padding);
"""
direct = load_inline(name="direct", cpp_sources=cpp, cuda_sources=cuda, functions=["conv2d"], extra_ldflags=[""])


class ModelNew(nn.Module):
    def __init__(self, inside, outside, size, stride=1, padding=0, **unused):
        super().__init__()
        conv = nn.Conv2d(inside, outside, size, stride=stride, padding=padding)
        self.stride, self.padding = conv.stride, conv.padding
        self.weight = nn.Parameter(conv.weight.data.clone())
        self.bias = nn.Parameter(conv.bias.data.clone())

    def forward(self, x):
        return direct.conv2d(x, self.weight, self.bias, list(self.stride), self.padding)
