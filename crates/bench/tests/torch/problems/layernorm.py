import torch
import torch.nn as nn

features = 256


class Model(nn.Module):
    """Normalises the last dimension, with parameters."""

    def __init__(self, features: int):
        super().__init__()
        self.ln = nn.LayerNorm(features)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.ln(x)


def get_inputs():
    return [torch.rand(16, 32, features)]


def get_init_inputs():
    return [features]
