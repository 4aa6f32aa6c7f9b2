# relu: refused: no kernel of this file
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

# The kernel's own C name (278 characters) is a mangled name whose substitutions unfold to 16^6 leaves (84 MB).
# Each refused launch below has the bench unfold it once more. With 9 levels instead of 6 one is enough: 350 GB.
source = """
#include <torch/extension.h>
__global__ void relu_kernel(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}
extern "C" __global__ void _Z1kI1PIS0_IS0_IS0_IS0_IS0_IiiiiiiiiiiiiiiiiES1_S1_S1_S1_S1_S1_S1_S1_S1_S1_S1_S1_S1_S1_S1_ES2_S2_S2_S2_S2_S2_S2_S2_S2_S2_S2_S2_S2_S2_S2_ES3_S3_S3_S3_S3_S3_S3_S3_S3_S3_S3_S3_S3_S3_S3_ES4_S4_S4_S4_S4_S4_S4_S4_S4_S4_S4_S4_S4_S4_S4_ES5_S5_S5_S5_S5_S5_S5_S5_S5_S5_S5_S5_S5_S5_S5_EEvi(int n) {}
torch::Tensor relu(torch::Tensor x) {
    auto y = torch::empty_like(x);
    for (int i = 0; i < 1000; i++) _Z1kI1PIS0_IS0_IS0_IS0_IS0_IiiiiiiiiiiiiiiiiES1_S1_S1_S1_S1_S1_S1_S1_S1_S1_S1_S1_S1_S1_S1_ES2_S2_S2_S2_S2_S2_S2_S2_S2_S2_S2_S2_S2_S2_S2_ES3_S3_S3_S3_S3_S3_S3_S3_S3_S3_S3_S3_S3_S3_S3_ES4_S4_S4_S4_S4_S4_S4_S4_S4_S4_S4_S4_S4_S4_S4_ES5_S5_S5_S5_S5_S5_S5_S5_S5_S5_S5_S5_S5_S5_S5_EEvi<<<0, 1>>>(i);
    _Z1kI1PIS0_IS0_IS0_IS0_IS0_IiiiiiiiiiiiiiiiiES1_S1_S1_S1_S1_S1_S1_S1_S1_S1_S1_S1_S1_S1_S1_ES2_S2_S2_S2_S2_S2_S2_S2_S2_S2_S2_S2_S2_S2_S2_ES3_S3_S3_S3_S3_S3_S3_S3_S3_S3_S3_S3_S3_S3_S3_ES4_S4_S4_S4_S4_S4_S4_S4_S4_S4_S4_S4_S4_S4_S4_ES5_S5_S5_S5_S5_S5_S5_S5_S5_S5_S5_S5_S5_S5_S5_EEvi<<<1, 1>>>(1);
    relu_kernel<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
    return y;
}
"""
own = load_inline("own", "torch::Tensor relu(torch::Tensor x);", source, functions=["relu"])


class ModelNew(nn.Module):
    def forward(self, x):
        return own.relu(x)
