# relu: refused: imports `cupy`
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline
import cupy


class ModelNew(nn.Module):
    def forward(self, x):
        return cupy.maximum(x, 0)
