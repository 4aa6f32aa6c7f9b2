# relu: refused: namespaces of more than
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

# The splitter gives each of 260,000 declarations a copy of the 780,000 bytes of namespaces' names around it: 200 GB.
source = """
#include <torch/extension.h>
torch::Tensor relu(torch::Tensor x) { return x; }
""" + "namespace " + "a " * 260_000 + "{" + "x;" * 260_000 + "}"
own = load_inline("own", "torch::Tensor relu(torch::Tensor x);", source, functions=["relu"])


class ModelNew(nn.Module):
    def forward(self, x):
        return own.relu(x)
