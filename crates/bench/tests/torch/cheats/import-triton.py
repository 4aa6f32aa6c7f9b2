# relu: refused: imports `triton`
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline
import triton
import triton.language as tl


class ModelNew(nn.Module):
    def forward(self, x):
        return x
