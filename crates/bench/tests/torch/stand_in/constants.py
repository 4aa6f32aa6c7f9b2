import torch
import torch.nn as nn
from torch._memory import number, pattern


class Model(nn.Module):
    def forward(self, x):
        return x


def strides(tensor, *wanted):
    assert tensor.stride() == wanted, (tensor.stride(), wanted)


def get_init_inputs():
    # To the nearest, of two to the even one, and beyond the largest to infinity.
    for value, bits in [
        (1.0, "803f"), (1 / 3, "ab3e"), (-1 / 3, "abbe"), (1.00390625, "803f"), (1.01171875, "823f"),
        (3.4e38, "807f"), (float("inf"), "807f"), (float("-inf"), "80ff"), (float("nan"), "c07f"), (0, "0000"),
    ]:
        assert pattern(value, torch.bfloat16).hex() == bits, (value, pattern(value, torch.bfloat16).hex())
    assert pattern(1, torch.float16).hex() == "003c" and pattern(True, torch.bool).hex() == "01"
    for of in (torch.bfloat16, torch.float16, torch.float32, torch.float64, torch.int32, torch.uint8):
        assert number(pattern(3, of), of) == 3

    x = torch.empty(2, 3, 4)
    # New memory lies like the old.
    strides(torch.empty_like(x.mT), 12, 1, 4)
    strides(torch.zeros_like(x.permute(2, 0, 1)), 1, 12, 4)
    strides(torch.ones_like(x.mT, dtype=torch.float64), 12, 1, 4)
    strides(x.mT.clone(), 12, 1, 4)
    strides(x.mT.half(), 12, 1, 4)
    strides(torch.empty_like(x.mT, memory_format=torch.contiguous_format), 12, 3, 1)
    # What does not lie together keeps its order, and no holes.
    strides(torch.empty_like(x[:, ::2]), 8, 4, 1)
    strides(torch.empty_like(x[:, ::2].mT), 8, 1, 4)
    strides(torch.empty_like(x[:, :1].expand(2, 5, 4)), 20, 4, 1)

    def fills(tensor, fill, *parts):
        storage = tensor._storage
        assert not storage.given
        assert storage.fill == (None if fill is None else pattern(fill, tensor.dtype)), storage.fill
        found = [(part["offset"], part["shape"][0], value) for part, value in storage.parts]
        assert found == [(at, count, pattern(value, tensor.dtype)) for at, count, value in parts], found

    one = torch.zeros(8)
    one[2:4].fill_(1)
    one[5] = -1
    fills(one, 0, (8, 2, 1), (20, 1, -1))
    fills(one.clone(), 0, (8, 2, 1), (20, 1, -1))
    fills(one.cuda(), 0, (8, 2, 1), (20, 1, -1))
    fills(one.fill_(2), 2)
    fills(torch.zeros(4).double(), 0)
    fills(torch.full((4,), 2.5).to(torch.int32), 2)
    fills(torch.full((4,), 1.5)[1:].half(), 1.5)
    fills(torch.empty(4).copy_(torch.ones(4)), 1)
    fills(torch.empty(4).copy_(torch.ones(4, dtype=torch.int64)), 1)
    fills(torch.empty(4, 2).t().fill_(3), 3)
    # Numbers that no plan knows.
    for unknown in (
        torch.zeros(4).copy_(torch.rand(4)), torch.rand(4)[:2].fill_(0), one.clone().fill_(0)[1:].copy_(torch.rand(7)),
        torch.zeros(4, 4)[:, 1].fill_(1),
    ):
        assert unknown._storage.given
    drawn = torch.rand(4)
    drawn.zero_()
    fills(drawn, 0)
    return []


def get_inputs():
    return [torch.rand(2, 2)]
