import torch
import torch.nn as nn


class Model(nn.Module):
    """How open gates are, in the mean of each row."""

    def __init__(self):
        super().__init__()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(x).mean(dim=1)


def get_inputs():
    return [torch.rand(8, 8192).half()]


def get_init_inputs():
    return []
