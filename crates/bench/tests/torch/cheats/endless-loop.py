# relu: timed-out: 
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline


class ModelNew(nn.Module):
    def forward(self, x):
        while True:
            pass
