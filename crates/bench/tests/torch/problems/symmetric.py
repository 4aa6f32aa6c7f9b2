import torch
import torch.nn as nn


class Model(nn.Module):
    """Sums the rows of a symmetric matrix."""

    def __init__(self):
        super().__init__()

    def forward(self, a: torch.Tensor) -> torch.Tensor:
        return torch.sum(a, dim=1)


def get_inputs():
    a = torch.rand(96, 96)
    return [(a + a.T) / 2]


def get_init_inputs():
    return []
