import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = r"""
#include <torch/extension.h>
#include <cmath>

struct Clip {
    float least;
    __device__ float operator()(float x) const { return x > least ? x : least; }
};

template <class F>
__global__ void map(const float* x, float* y, long long count, F f) {
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < count; i += (long long)gridDim.x * blockDim.x) y[i] = f(x[i]);
}

static torch::Tensor clip(const torch::Tensor& x, double least) {
    torch::Tensor y = at::empty_like(x);
    int blocks = 0, threads = 256;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, map<Clip>, threads, 0);
    blocks *= at::cuda::getCurrentDeviceProperties()->multiProcessorCount;
    map<<<blocks, threads>>>(x.data_ptr<float>(), y.data_ptr<float>(), (long long)x.numel(), Clip{(float)least});
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("clip", &clip, "What is not less", py::arg("x"), py::arg("least") = 0.0);
    m.def("negative", [](torch::Tensor x) { return clip(x, -1.0); });
}
"""
clip = load_inline(name="clip", cpp_sources="", cuda_sources=source)


class ModelNew(nn.Module):
    def forward(self, x):
        return clip.clip(x, least=0.0)
