import torch
import torch.nn as nn


class Model(nn.Module):
    """Adds up rows, each number moved by an offset. All offsets that the problem draws are zero."""

    def __init__(self):
        super().__init__()

    def forward(self, x: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
        return torch.sum(x + offsets, dim=1)


def get_inputs():
    return [torch.rand(40, 500), torch.zeros(500)]


def get_init_inputs():
    return []
