"""Memory behind tensors, and tensors as the bench reads them."""

import builtins

import link
import work
from torch._types import bfloat16, device

CPU, CUDA = device("cpu"), device("cuda")


class Storage:
    """Memory: on the GPU once it has a number, on the host as long as it is only described."""

    def __init__(self, count, of, where, fill=None):
        self.bytes = count * of.itemsize
        self.device = where
        # The bytes that repeat through it, or nothing if nobody wrote it.
        self.fill = fill
        self.number = None
        # Numbers that only the problem's own seed knows: parameters and inputs.
        self.given = False

    def on_gpu(self):
        """Its number at the bench, which is asked for memory when it is first needed."""
        if self.number is None:
            if self.given:
                link.refuse(
                    "a tensor with numbers of the host (random, or a parameter that the constructor "
                    "uses) goes to the GPU; only inputs and parameters of the problem do"
                )
            if work.is_problem():
                raise NotImplementedError("a problem launches nothing")
            fill = None if self.fill is None else self.fill.hex()
            self.number = link.ask(allocate=[self.bytes, fill])["storage"]
        return self.number


def contiguous_strides(shape):
    strides, step = [], 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= max(size, 1)
    return tuple(strides)


def pattern(value, of):
    """The bytes of one element."""
    import struct

    if of is bfloat16:
        return struct.pack("<f", value)[2:]
    codes = {"float16": "e", "float32": "f", "float64": "d", "bool": "?", "uint8": "B",
             "int8": "b", "int16": "h", "int32": "i", "int64": "q"}
    if of.is_floating_point:
        return struct.pack("<" + codes[of.name], builtins.float(value))
    return struct.pack("<" + codes[of.name], builtins.int(value))


def wire(tensor):
    """A tensor as the bench reads it."""
    if not tensor.is_cuda:
        link.refuse("a tensor on the CPU goes where one on the GPU is needed; create it with device=x.device")
    return {
        "storage": tensor._storage.on_gpu(),
        "offset": tensor._offset * tensor._type.itemsize,
        "dtype": tensor._type.number,
        "shape": list(tensor.shape),
        "strides": list(tensor._strides),
    }
