import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline


class ModelNew(nn.Module):
    """Builds its kernel as it is constructed."""

    def __init__(self):
        super().__init__()
        self.kernel = load_inline(
            name="rows",
            cpp_sources="torch::Tensor softmax(torch::Tensor x);",
            cuda_sources="""
#include <torch/extension.h>
#include <cfloat>

__global__ void softmax_rows(const float* __restrict__ x, float* __restrict__ y, int width) {
    extern __shared__ float shared[];
    const float* row = x + (long long)blockIdx.x * width;
    float largest = -FLT_MAX;
    for (int i = threadIdx.x; i < width; i += blockDim.x) largest = fmaxf(largest, row[i]);
    shared[threadIdx.x] = largest;
    __syncthreads();
    for (int step = blockDim.x / 2; step > 0; step /= 2) {
        if (threadIdx.x < step) shared[threadIdx.x] = fmaxf(shared[threadIdx.x], shared[threadIdx.x + step]);
        __syncthreads();
    }
    largest = shared[0];
    __syncthreads();
    float sum = 0.0f;
    for (int i = threadIdx.x; i < width; i += blockDim.x) sum += expf(row[i] - largest);
    shared[threadIdx.x] = sum;
    __syncthreads();
    for (int step = blockDim.x / 2; step > 0; step /= 2) {
        if (threadIdx.x < step) shared[threadIdx.x] += shared[threadIdx.x + step];
        __syncthreads();
    }
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        y[(long long)blockIdx.x * width + i] = expf(row[i] - largest) / shared[0];
}

torch::Tensor softmax(torch::Tensor x) {
    TORCH_CHECK(x.dim() == 2 && x.scalar_type() == torch::kFloat32);
    auto y = torch::empty_like(x);
    const int threads = 256;
    softmax_rows<<<x.size(0), threads, threads * sizeof(float)>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
    return y;
}
""",
            functions=["softmax"],
            verbose=False,
        )

    def forward(self, x):
        return self.kernel.softmax(x)
