import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return x


def same(tensor, shape, strides=None, offset=0):
    assert tuple(tensor.shape) == tuple(shape), (tensor.shape, shape)
    if strides is not None:
        assert tensor.stride() == tuple(strides), (tensor.stride(), strides)
    assert tensor.storage_offset() == offset, tensor.storage_offset()


def fails(kind, action):
    try:
        action()
    except kind:
        return
    raise AssertionError(f"{kind.__name__} expected")


def get_init_inputs():
    x = torch.empty(2, 3, 4)
    same(x, [2, 3, 4], [12, 4, 1])
    assert x.numel() == 24 and x.dim() == 3 and x.size(-1) == 4 and x.size() == (2, 3, 4)
    assert x.nbytes == 96 and x.element_size() == 4 and len(x) == 2
    same(x.view(6, -1), [6, 4], [4, 1])
    same(x.reshape(-1), [24], [1])
    same(x.permute(2, 0, 1), [4, 2, 3], [1, 12, 4])
    same(x.transpose(0, -1), [4, 3, 2], [1, 4, 12])
    same(x.mT, [2, 4, 3], [12, 1, 4])
    same(x.unsqueeze(1), [2, 1, 3, 4], [12, 12, 4, 1])
    same(x.unsqueeze(-1), [2, 3, 4, 1], [12, 4, 1, 1])
    same(x.unsqueeze(0).squeeze(0), [2, 3, 4], [12, 4, 1])
    same(x[1], [3, 4], [4, 1], 12)
    same(x[:, 1], [2, 4], [12, 1], 4)
    same(x[..., 1:3], [2, 3, 2], [12, 4, 1], 1)
    same(x[:, ::2], [2, 2, 4], [12, 8, 1])
    same(x[-1, -1, -1], [], [], 23)
    same(x[:, None, 0], [2, 1, 4])
    same(x.narrow(1, 1, 2), [2, 2, 4], [12, 4, 1], 4)
    same(x.flatten(1), [2, 12], [12, 1])
    same(x.unflatten(2, (2, 2)), [2, 3, 2, 2], [12, 4, 2, 1])
    same(x[:, :1].expand(2, 5, 4), [2, 5, 4], [12, 0, 1])
    same(x.expand(7, -1, -1, -1), [7, 2, 3, 4], [0, 12, 4, 1])
    assert [tuple(one.shape) for one in x.split(2, dim=1)] == [(2, 2, 4), (2, 1, 4)]
    assert [tuple(one.shape) for one in x.chunk(2, -1)] == [(2, 3, 2), (2, 3, 2)]
    assert len(x.unbind(1)) == 3 and len(list(x)) == 2
    assert x.is_contiguous() and not x.mT.is_contiguous() and x[1].is_contiguous()
    assert torch.empty(1, 4).t().is_contiguous()
    # A view of what does not lie together, where torch gives one and where it does not.
    same(x[:, :2].view(2, 2, 2, 2), [2, 2, 2, 2], [12, 4, 2, 1])
    fails(RuntimeError, lambda: x.mT.view(-1))
    fails(RuntimeError, lambda: x.view(5, 5))
    fails(IndexError, lambda: x[2])
    fails(IndexError, lambda: x.transpose(0, 3))
    fails(RuntimeError, lambda: x.expand(3, 3, 4))
    same(torch.empty_strided((2, 3), (1, 2)), [2, 3], [1, 2])
    assert x.to("cuda").is_cuda and x.device.type == "cpu" and str(x.cuda().device) == "cuda:0"
    assert x.half().dtype is torch.float16 and x.to(torch.int32).dtype == torch.int32
    assert torch.zeros_like(x, dtype=torch.bool).element_size() == 1
    assert torch.tensor([[1.0, 2.0]]).shape == (1, 2) and torch.arange(2, 9, 3).shape == (3,)
    assert torch.tensor(3).dtype is torch.int64 and torch.full((2,), 1.5).dtype is torch.float32
    return []


def get_inputs():
    return [torch.rand(2, 2)]
