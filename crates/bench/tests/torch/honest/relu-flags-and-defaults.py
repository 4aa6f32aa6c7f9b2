import math
import os
import sys
import time
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

os.environ.setdefault("TORCH_CUDA_ARCH_LIST", "9.0")

source = """
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/util/irange.h>
#include <cooperative_groups.h>

#define STREAM(value, pointer) asm volatile("ld.global.cs.f32 %0, [%1];" : "=f"(value) : "l"(pointer))
__device__ const float table[2] = {0.0f, 1.0f};

__global__ void relu_kernel(const float* x, float* y, int n, float floor) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    float value;
    if (i < n) {
        STREAM(value, x + i);
        y[i] = fmaxf(value, floor + table[0]);
    }
}
torch::Tensor relu(torch::Tensor x, double floor, std::string mode, std::vector<int64_t> sizes,
                   c10::optional<torch::Tensor> mask, bool checked) {
    const at::cuda::OptionalCUDAGuard guard(device_of(x));
    TORCH_CHECK(mode == "plain" && checked && !mask.has_value());
    int64_t total = 1;
    for (auto i : c10::irange(sizes.size())) total *= sizes[i];
    TORCH_CHECK(total == WAYS(2, 3));
    auto y = torch::empty_like(x);
    relu_kernel<<<(x.numel() + THREADS - 1) / THREADS, THREADS, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), y.data_ptr<float>(), x.numel(), floor);
    return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("relu", &relu, py::arg("x"), py::arg("floor") = 0.0, py::arg("mode") = "plain",
          py::arg("sizes") = std::vector<int64_t>{2, 3}, py::arg("mask") = py::none(), py::arg("checked") = false);
}
"""
own = load_inline(
    "own", "", source,
    extra_cflags=["-O3", "-std=c++17"],
    extra_cuda_cflags=["-DTHREADS=128", "-D", "'WAYS(a, b)=((a) * (b))'", "-gencode", "arch=compute_90,code=sm_90",
                       "-Xptxas", "-v", "--maxrregcount", "64"],
)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.ModuleList([nn.Module()])
        self.layers = len(list(self.modules())) + math.floor(0.5)

    def forward(self, x):
        return own.relu(x, checked=self.layers == 3)
