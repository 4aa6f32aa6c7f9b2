"""What operations of torch return, as shapes. Only problems call them; an answer is refused."""

import math

from torch._tensor import Tensor, made
from torch._types import bool_, float32, int64, ints, promoted


def like(tensor, shape=None, of=None):
    return made(tensor.shape if shape is None else shape, of or tensor.dtype, tensor.device)


def broadcast(*shapes):
    result = []
    for at in range(1, max(len(one) for one in shapes) + 1):
        sizes = {one[-at] for one in shapes if len(one) >= at} - {1}
        if len(sizes) > 1:
            raise RuntimeError(f"shapes {list(map(list, shapes))} do not fit each other")
        result.insert(0, sizes.pop() if sizes else 1)
    return result


def elementwise(*values, **named):
    found = [one for one in [*values, *named.values()] if isinstance(one, Tensor)]
    of = promoted(*(one.dtype for one in found))
    numbers = [one for one in values if isinstance(one, float)]
    if numbers and not of.is_floating_point:
        of = float32
    return like(found[0], broadcast(*(one.shape for one in found)), of)


def comparison(*values, **named):
    return like(elementwise(*values), None, bool_)


def in_place(tensor, *values, **named):
    return tensor


def same(tensor, *values, **named):
    return like(tensor)


def _dims(tensor, dim):
    if dim is None:
        return list(range(tensor.dim()))
    return [tensor._at(one) for one in (dim if isinstance(dim, (tuple, list)) else [dim])]


def reduced(tensor, dim=None, keepdim=False, of=None):
    dims = _dims(tensor, dim)
    shape = [1 if at in dims else size for at, size in enumerate(tensor.shape)
             if keepdim or at not in dims]
    return like(tensor, shape, of)


def reduction(tensor, dim=None, keepdim=False, dtype=None, **named):
    return reduced(tensor, named.get("axis", dim), keepdim, dtype)


def norm(tensor, p="fro", dim=None, keepdim=False, **named):
    return reduced(tensor, dim, keepdim)


def index_reduction(tensor, dim=None, keepdim=False):
    return reduced(tensor, dim, keepdim, int64)


def extreme(tensor, dim=None, keepdim=False, **named):
    if isinstance(dim, Tensor):
        return elementwise(tensor, dim)
    if dim is None:
        return reduced(tensor)
    return Pair(reduced(tensor, dim, keepdim), reduced(tensor, dim, keepdim, int64))


class Pair(tuple):
    """Values and their places."""

    def __new__(cls, values, indices):
        return tuple.__new__(cls, (values, indices))

    values = property(lambda self: self[0])
    indices = property(lambda self: self[1])


def matmul(a, b, **named):
    if a.dim() == 1 and b.dim() == 1:
        return like(a, [])
    left = a.shape if a.dim() > 1 else [1, *a.shape]
    right = b.shape if b.dim() > 1 else [*b.shape, 1]
    if left[-1] != right[-2]:
        raise RuntimeError(f"matmul of {list(a.shape)} and {list(b.shape)}")
    shape = broadcast(left[:-2], right[:-2]) if len(left) + len(right) > 4 else []
    shape += [left[-2]] * (a.dim() > 1) + [right[-1]] * (b.dim() > 1)
    return like(a, shape)


def einsum(words, *tensors):
    inputs, _, result = words.replace(" ", "").partition("->")
    sizes = {}
    for names, tensor in zip(inputs.split(","), tensors):
        sizes.update(zip(names, tensor.shape))
    return like(tensors[0], [sizes[name] for name in result])


def diag(tensor, diagonal=0):
    if tensor.dim() == 1:
        return like(tensor, [tensor.shape[0] + abs(diagonal)] * 2)
    return like(tensor, [min(tensor.shape)])


def cat(tensors, dim=0):
    first = tensors[0]
    at = first._at(dim)
    total = sum(one.shape[at] for one in tensors)
    return like(first, [*first.shape[:at], total, *first.shape[at + 1:]])


def stack(tensors, dim=0):
    return cat([one.unsqueeze(dim) for one in tensors], dim)


def linear(x, weight, bias=None):
    return like(x, [*x.shape[:-1], weight.shape[0]])


def embedding(x, weight, *values, **named):
    return like(weight, [*x.shape, weight.shape[1]])


def each(value, count):
    return list(value) if isinstance(value, (tuple, list)) else [value] * count


def conv(count):
    def shape(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
        stride, dilation = each(stride, count), each(dilation, count)
        kernel = weight.shape[2:]
        if padding == "same":
            return like(x, [*x.shape[:-count - 1], weight.shape[0], *x.shape[-count:]])
        padding = [0] * count if padding == "valid" else each(padding, count)
        sizes = [(x.shape[at - count] + 2 * padding[at] - dilation[at] * (kernel[at] - 1) - 1)
                 // stride[at] + 1 for at in range(count)]
        return like(x, [*x.shape[:-count - 1], weight.shape[0], *sizes])
    return shape


def conv_transpose(count):
    def shape(x, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
        stride, padding = each(stride, count), each(padding, count)
        more, dilation = each(output_padding, count), each(dilation, count)
        sizes = [(x.shape[at - count] - 1) * stride[at] - 2 * padding[at]
                 + dilation[at] * (weight.shape[2 + at] - 1) + more[at] + 1 for at in range(count)]
        return like(x, [*x.shape[:-count - 1], weight.shape[1] * groups, *sizes])
    return shape


def pool(count):
    def shape(x, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False,
              return_indices=False, **named):
        kernel, padding = each(kernel_size, count), each(padding, count)
        stride = kernel if stride is None else each(stride, count)
        # An average pool's fourth argument is no dilation.
        dilation = [1] * count if isinstance(dilation, bool) else each(dilation, count)
        sizes = []
        for at in range(count):
            size = x.shape[at - count]
            room = size + 2 * padding[at] - dilation[at] * (kernel[at] - 1) - 1
            steps = -(-room // stride[at]) if ceil_mode else room // stride[at]
            if ceil_mode and steps * stride[at] >= size + padding[at]:
                steps -= 1
            sizes.append(steps + 1)
        values = like(x, [*x.shape[:-count], *sizes])
        return (values, like(values, None, int64)) if return_indices else values
    return shape


def adaptive_pool(count):
    def shape(x, output_size, **named):
        sizes = [old if new is None else new
                 for new, old in zip(each(output_size, count), x.shape[-count:])]
        return like(x, [*x.shape[:-count], *sizes])
    return shape


def loss(x, target, *values, reduction="mean", **named):
    return like(x, []) if reduction != "none" else elementwise(x, target)


def class_loss(x, target, *values, reduction="mean", **named):
    return like(x, []) if reduction != "none" else like(x, target.shape)


def triplet_loss(anchor, positive, negative, *values, reduction="mean", **named):
    return like(anchor, [] if reduction != "none" else anchor.shape[:-1])


def attention(query, key, value, *values, **named):
    return like(query, [*query.shape[:-1], value.shape[-1]])


def repeat(tensor, *sizes):
    times = ints(sizes)
    shape = [1] * (len(times) - tensor.dim()) + list(tensor.shape)
    return like(tensor, [a * b for a, b in zip(times, shape)])


def top(tensor, k, dim=-1, *values, **named):
    at = tensor._at(dim)
    shape = [*tensor.shape[:at], k, *tensor.shape[at + 1:]]
    return Pair(like(tensor, shape), like(tensor, shape, int64))


def ordered(tensor, *values, **named):
    return Pair(like(tensor), like(tensor, None, int64))


def pad(tensor, padding, *values, **named):
    shape = list(tensor.shape)
    for at in range(len(padding) // 2):
        shape[-1 - at] += padding[2 * at] + padding[2 * at + 1]
    return like(tensor, shape)


def gather(tensor, dim, index, **named):
    return like(tensor, index.shape)


def index_select(tensor, dim, index):
    at = tensor._at(dim)
    return like(tensor, [*tensor.shape[:at], index.numel(), *tensor.shape[at + 1:]])


def outer(a, b):
    return like(a, [a.numel(), b.numel()])


def interpolate(x, size=None, scale_factor=None, *values, **named):
    count = x.dim() - 2
    sizes = each(size, count) if size is not None else [
        math.floor(old * new) for old, new in zip(x.shape[2:], each(scale_factor, count))]
    return like(x, [*x.shape[:2], *sizes])
