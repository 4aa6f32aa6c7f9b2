import torch
import torch.nn as nn


class Model(nn.Module):
    """The probability of what was seen, of which marks of zero and one tell."""

    def __init__(self):
        super().__init__()

    def forward(self, chances: torch.Tensor, seen: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.binary_cross_entropy(chances, seen, reduction="none")


def get_inputs():
    chances = torch.sigmoid(torch.rand(24, 300))
    return [chances, torch.randint(0, 2, (24, 300)).float()]


def get_init_inputs():
    return []
