import hashlib
import logging
import uuid

import torch
import torch.nn as nn
from torch.autograd.function import once_differentiable
from torch.cuda.amp import custom_bwd
from torch.utils.cpp_extension import load_inline

logger = logging.getLogger(__name__)
logger.setLevel(logging.getLogger().level)

source = """
#include <torch/extension.h>
__global__ void relu_kernel(const float* x, float* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.0f);
}
torch::Tensor relu_forward(torch::Tensor x) {
    auto y = torch::empty_like(x);
    const int n = x.numel();
    relu_kernel<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
    return y;
}
"""
relu = load_inline("relu", "torch::Tensor relu_forward(torch::Tensor x);", source, functions=["relu_forward"])
name = f"relu_{hashlib.sha256(source.encode()).hexdigest()[:8]}_{uuid.uuid4().hex}_{torch.version.cuda}"


class ReLU(torch.autograd.Function):
    @staticmethod
    @torch.amp.custom_fwd(device_type="cuda")
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return relu.relu_forward(x)

    @staticmethod
    @once_differentiable
    @custom_bwd
    def backward(ctx, grad):
        raise NotImplementedError(name)


@torch.compiler.disable
def positive(x):
    logger.info("relu of %s", x.shape)
    return ReLU.apply(x)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()

    @torch.jit.ignore
    def forward(self, x):
        with torch.inference_mode(), torch.autocast(device_type="cuda", enabled=False):
            return positive(x)
