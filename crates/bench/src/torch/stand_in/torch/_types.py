"""Element types, devices, sizes: the words of torch that are no tensors."""

import builtins
import math

from sealed import SealedType


class dtype(metaclass=SealedType):
    """An element type: its name, torch's number for it, its bytes."""

    def __init__(self, name, number, itemsize, floating):
        self.name, self.number, self.itemsize = name, number, itemsize
        self.is_floating_point = floating
        self.is_complex = False

    def __repr__(self):
        return f"torch.{self.name}"


uint8 = dtype("uint8", 0, 1, False)
int8 = dtype("int8", 1, 1, False)
int16 = dtype("int16", 2, 2, False)
int32 = dtype("int32", 3, 4, False)
int64 = dtype("int64", 4, 8, False)
float16 = dtype("float16", 5, 2, True)
float32 = dtype("float32", 6, 4, True)
float64 = dtype("float64", 7, 8, True)
bool_ = dtype("bool", 11, 1, False)
bfloat16 = dtype("bfloat16", 15, 2, True)
ALL = [uint8, int8, int16, int32, int64, float16, float32, float64, bool_, bfloat16]
BY_NUMBER = {one.number: one for one in ALL}
BY_NAME = {one.name: one for one in ALL}


class device(metaclass=SealedType):
    """A device by its words: `cuda`, `cuda:0`, `cpu`."""

    def __init__(self, kind="cuda", index=None):
        if isinstance(kind, device):
            kind, index = kind.type, kind.index
        if isinstance(kind, int):
            kind, index = "cuda", kind
        self.type, _, number = str(kind).partition(":")
        if self.type not in ("cuda", "cpu", "meta"):
            raise RuntimeError(f"no such device: {kind}")
        self.index = int(number) if number else index
        if self.type == "cuda" and self.index is None:
            self.index = 0

    def __eq__(self, other):
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self):
        return hash((self.type, self.index))

    def __str__(self):
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self):
        return f"device(type='{self.type}')"


class Size(tuple):
    """A shape."""

    def numel(self):
        return math.prod(self)

    def __getitem__(self, at):
        part = tuple.__getitem__(self, at)
        return Size(part) if isinstance(at, slice) else part


def ints(values, what="a size"):
    """Numbers that were given one by one or as a list."""
    if len(values) == 1 and isinstance(values[0], (tuple, list)):
        values = values[0]
    found = []
    for one in values:
        if isinstance(one, builtins.float) or not hasattr(one, "__index__"):
            raise TypeError(f"{what} is no integer: {type(one).__name__}")
        found.append(one.__index__())
    return found


def promoted(*types):
    """The type of what two types make together, as far as shapes need it."""
    order = [bool_, uint8, int8, int16, int32, int64, float16, bfloat16, float32, float64]
    return max(types, key=order.index)
