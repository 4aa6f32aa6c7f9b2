import torch
import torch.nn as nn


class Model(nn.Module):
    """A convolution of images, with a bias."""

    def __init__(self, inside: int, outside: int, size: int, stride: int = 1, padding: int = 0):
        super().__init__()
        self.conv = nn.Conv2d(inside, outside, size, stride=stride, padding=padding)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(x)


def get_inputs():
    return [torch.rand(4, 3, 32, 48)]


def get_init_inputs():
    return [3, 8, 3, 1, 1]
