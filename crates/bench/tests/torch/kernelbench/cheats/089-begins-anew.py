# wrong: but should be
"""Running sums that forget what was carried."""

import torch
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>

__global__ void running_sums_kernel(const float *x, float *y, int cols) {
    __shared__ float before[33];
    const float *in = x + (long long)blockIdx.x * cols;
    float *out = y + (long long)blockIdx.x * cols;
    float carried = 0.0f;
    for (int begin = 0; begin < cols; begin += blockDim.x) {
        const int j = begin + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        float v = j < cols ? in[j] : 0.0f;
        for (int d = 1; d < 32; d *= 2) {
            const float left = __shfl_up_sync(0xffffffffu, v, d);
            if (lane >= d) v += left;
        }
        if (lane == 31) before[warp + 1] = v;
        if (threadIdx.x == 0) before[0] = 0.0f;
        __syncthreads();
        if (warp == 0) {
            float sum = before[lane + 1];
            for (int d = 1; d < 32; d *= 2) {
                const float left = __shfl_up_sync(0xffffffffu, sum, d);
                if (lane >= d) sum += left;
            }
            before[lane + 1] = sum;
        }
        __syncthreads();
        if (j < cols) out[j] = carried + before[warp] + v;
        carried = before[32];
        __syncthreads();
    }
}

torch::Tensor running_sums(torch::Tensor x) {
    auto y = torch::empty_like(x);
    running_sums_kernel<<<x.size(0), 1024>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
    return y;
}
"""

built = load_inline(
    name="running_sums",
    cpp_sources="torch::Tensor running_sums(torch::Tensor x);",
    cuda_sources=CUDA,
    functions=["running_sums"],
)


class ModelNew(torch.nn.Module):
    def __init__(self, dim):
        super().__init__()
        assert dim == 1

    def forward(self, x):
        return built.running_sums(x)
