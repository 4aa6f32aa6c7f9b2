# relu: refused: `torch.compile`
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline


class ModelNew(nn.Module):
    def forward(self, x):
        return torch.compile(torch.relu)(x)
