"""Memory behind tensors, and tensors as the bench reads them."""

import builtins
import math

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
        # Parts that were set to something else: each as a tensor, and the bytes of an element.
        self.parts = []
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
            self.set_parts()
        return self.number

    def set_parts(self):
        """Sets the parts, once the memory has a number."""
        for part, fill in self.parts:
            link.ask(set=[{**part, "storage": self.number}, fill.hex()])
        self.parts = []

    def like(self, other):
        """What is known of other memory, for a copy of all of it."""
        self.fill, self.parts, self.given = other.fill, list(other.parts), other.given

    def unknown(self):
        """Numbers that no plan knows."""
        self.fill, self.parts, self.given = None, [], True


def contiguous_strides(shape):
    strides, step = [], 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= max(size, 1)
    return tuple(strides)


def dense_strides(shape, strides):
    """The strides of new memory for a tensor that lies like one of these strides, as torch chooses them."""
    order = list(range(len(shape)))[::-1]
    for last in range(1, len(order)):
        at = last
        for other in range(last - 1, -1, -1):
            a, b = order[other], order[at]
            if 0 in (strides[a], strides[b]):
                continue
            if strides[a] < strides[b]:
                break
            if strides[a] > strides[b] or shape[a] > shape[b]:
                order[other], order[at] = b, a
                at = other
    found, step = [0] * len(shape), 1
    for dim in order:
        found[dim] = step
        step *= max(shape[dim], 1)
    return found


def is_dense(shape, strides):
    """Whether the elements lie together, in whatever order, each at a place of its own."""
    step = 1
    for stride, size in sorted((b, a) for a, b in zip(shape, strides) if a != 1):
        if stride != step:
            return 0 in shape
        step *= size
    return True


CODES = {"float16": "e", "float32": "f", "float64": "d", "bool": "?", "uint8": "B",
         "int8": "b", "int16": "h", "int32": "i", "int64": "q"}


def pattern(value, of):
    """The bytes of one element."""
    import struct

    if of is bfloat16:
        single = struct.pack("<f", value)
        bits = int.from_bytes(single, "little")
        if value != value:
            return b"\xc0\x7f"
        # To the nearest, and of two to the even one.
        return (bits + 0x7FFF + (bits >> 16 & 1) >> 16).to_bytes(2, "little")
    if of.is_floating_point:
        return struct.pack("<" + CODES[of.name], builtins.float(value))
    if of.name == "bool":
        return struct.pack("<?", bool(value))
    return struct.pack("<" + CODES[of.name], builtins.int(value))


def number(element, of):
    """The number whose bytes these are."""
    import struct

    if of is bfloat16:
        return struct.unpack("<f", b"\0\0" + element)[0]
    return struct.unpack("<" + CODES[of.name], element)[0]


def wire(tensor):
    """A tensor as the bench reads it."""
    if not tensor.is_cuda:
        link.refuse("a tensor on the CPU goes where one on the GPU is needed; create it with device=x.device")
    return {"storage": tensor._storage.on_gpu(), **place(tensor)}


def place(tensor):
    """Where a tensor lies in its memory."""
    return {
        "offset": tensor._offset * tensor._type.itemsize,
        "dtype": tensor._type.number,
        "shape": list(tensor.shape),
        "strides": list(tensor._strides),
    }


def together(tensor):
    """A tensor whose elements lie together, as one row of them."""
    return {**tensor, "shape": [math.prod(tensor["shape"])], "strides": [1]}
