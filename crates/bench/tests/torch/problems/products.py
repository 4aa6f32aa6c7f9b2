import torch
import torch.nn as nn


class Model(nn.Module):
    """Running products of rows: after a few numbers hardly anything is left of them."""

    def __init__(self):
        super().__init__()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cumprod(x, dim=1)


def get_inputs():
    return [torch.rand(16, 600)]


def get_init_inputs():
    return []
