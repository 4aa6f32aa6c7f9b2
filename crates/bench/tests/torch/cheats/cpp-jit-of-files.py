# relu: refused: reads files
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline
from torch.utils import cpp_extension

own = cpp_extension.load(name="own", sources=["own.cu"])


class ModelNew(nn.Module):
    def forward(self, x):
        return own.relu(x)
