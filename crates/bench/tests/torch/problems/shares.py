import torch
import torch.nn as nn


class Model(nn.Module):
    """What all shares of each row make: one, whatever the inputs are."""

    def __init__(self):
        super().__init__()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x, dim=1).sum(dim=1)


def get_inputs():
    return [torch.rand(64, 100)]


def get_init_inputs():
    return []
