# relu: malformed: no subclass
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline


class ModelNew:
    def forward(self, x):
        return x
