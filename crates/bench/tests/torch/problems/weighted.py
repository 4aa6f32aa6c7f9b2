import torch
import torch.nn as nn


class Model(nn.Module):
    """Adds up rows, each number times its weight. All weights that the problem draws are one."""

    def __init__(self):
        super().__init__()

    def forward(self, x: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        return torch.sum(x * weights, dim=1)


def get_inputs():
    return [torch.rand(40, 500), torch.ones(500)]


def get_init_inputs():
    return []
