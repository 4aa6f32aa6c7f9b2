"""What is right for fresh inputs of a problem. It lies in memory that the examiner shares with this process, and
never with a candidate.

What decides is this process's own copy of the inputs, because a candidate may have changed the shared one.
"""

import ctypes
import math
import mmap
import os

import torch
import torch.utils.dlpack
from draws import WAYS

# Numbers that are compared at once: temporary memory of some GB would push large problems out of the GPU.
PIECE = 1 << 26
# A number is negligible beside what is usual in its tensor if it is smaller than this part of it. Where so many are,
# numbers of one size are drawn as well.
NEGLIGIBLE, MANY = 1e-4, 0.1
# Results that differ so much from one set of inputs to another surely depend on them.
DEPENDS = 0.1

READ_WRITE, ON_DEVICE, POSIX_DESCRIPTOR = 3, 1, 1


class Location(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("id", ctypes.c_int)]


class Access(ctypes.Structure):
    _fields_ = [("location", Location), ("flags", ctypes.c_int)]


class Layout(ctypes.Structure):
    """A tensor of DLPack, by which torch takes memory that it did not allocate."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("dimensions", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    ]


CAPSULE = b"dltensor"
PLAIN, GPU, UNSIGNED = 1, 2, 1


class Mapped:
    """Memory of the examiner, mapped here as bytes."""

    def __init__(self, fd, size, is_gpu):
        self.size, self.address = size, None
        try:
            if is_gpu:
                self.bytes = self.tensor(self.on_gpu(fd), GPU, torch.cuda.current_device())
            else:
                self.map = mmap.mmap(fd, size)
                self.bytes = self.tensor(ctypes.addressof(ctypes.c_char.from_buffer(self.map)), PLAIN, 0)
        finally:
            os.close(fd)

    def tensor(self, address, device_type, device):
        """Bytes at an address. Both structures must live as long as the tensor."""
        self.shape = (ctypes.c_int64 * 1)(self.size)
        self.layout = Layout(address, device_type, device, 1, UNSIGNED, 8, 1, self.shape, None, 0, None, None)
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return torch.utils.dlpack.from_dlpack(new(ctypes.addressof(self.layout), CAPSULE, None))

    def on_gpu(self, fd):
        self.driver = ctypes.CDLL("libcuda.so.1")
        # The driver's calls need torch's context.
        torch.zeros(1, device="cuda")
        handle, address = ctypes.c_uint64(), ctypes.c_uint64()
        size, none, flags = ctypes.c_size_t(self.size), ctypes.c_size_t(0), ctypes.c_uint64(0)
        access = Access(Location(ON_DEVICE, torch.cuda.current_device()), READ_WRITE)
        self.call("cuMemImportFromShareableHandle", ctypes.byref(handle), ctypes.c_void_p(fd), POSIX_DESCRIPTOR)
        self.call("cuMemAddressReserve", ctypes.byref(address), size, none, flags, flags)
        self.call("cuMemMap", address, size, none, handle, flags)
        self.call("cuMemSetAccess", address, size, ctypes.byref(access), ctypes.c_size_t(1))
        # The mapping keeps the memory.
        self.call("cuMemRelease", handle)
        self.address = address
        return address.value

    def call(self, name, *arguments):
        status = getattr(self.driver, name)(*arguments)
        if status:
            raise RuntimeError(f"{name} gives {status} for {self.size} bytes of shared memory")

    def release(self):
        self.bytes = None
        if self.address is not None:
            torch.cuda.synchronize()
            self.call("cuMemUnmap", self.address, ctypes.c_size_t(self.size))
            self.call("cuMemAddressFree", self.address, ctypes.c_size_t(self.size))

    def at(self, offset, dtype, count):
        """Elements of a type from a byte on."""
        end = offset + count * dtype.itemsize
        if end > self.size:
            raise ValueError(f"{end} bytes do not fit into shared memory of {self.size}")
        return self.bytes[offset:end].view(dtype)


def rms(flat):
    """The root of the mean square of numbers; no finite number if one of them is none."""
    return torch.linalg.vector_norm(flat).item() / math.sqrt(max(flat.numel(), 1))


def worst(got, want):
    """The largest error of floats in units of their scale: the right number's size, and what is usual here."""
    got, want = got.flatten(), want.flatten()
    usual, found = rms(want), 0.0
    if not math.isfinite(usual):
        return math.inf
    for begin in range(0, want.numel(), PIECE):
        right = want[begin : begin + PIECE]
        off = (got[begin : begin + PIECE].double() - right).abs_()
        error = torch.where(off == 0, 0.0, off / (right.abs() + usual)).max().item()
        found = max(found, error if math.isfinite(error) else math.inf)
    return found


def apart(some, others):
    """How far results are from other ones: integers are equal or not."""
    found = 0.0
    for one, other in zip(some, others, strict=True):
        if other.is_floating_point():
            found = max(found, min(worst(one, other), 1.0))
        elif not torch.equal(one, other):
            found = 1.0
    return found


def is_mostly_negligible(want):
    """Whether so many results are negligible that code may leave them out. Equal numbers may have another order, so
    results that say where a number is are never such."""
    for one in want:
        if not one.is_floating_point() or not one.numel():
            return False
        flat = one.flatten()
        least = NEGLIGIBLE * rms(flat)
        if sum((part.abs() <= least).sum().item() for part in flat.split(PIECE)) >= MANY * flat.numel():
            return True
    return False


class Judged:
    """A problem whose answers are judged. Its parameters are drawn anew with each set of inputs."""

    def __init__(self, problem, moved):
        self.problem, self.moved = problem, moved
        problem.inputs = None
        # How inputs are changed, by the name of the way to draw them.
        self.changes = {}
        self.forget()

    def forget(self):
        self.inputs = self.filled = self.plain = None

    def want(self, inputs):
        """The right outputs, in doubles. The module computes in doubles from then on."""
        self.problem.model.double()
        return self.problem.outputs(self.problem.model, self.moved(inputs, dtype=torch.float64))

    def both(self, seed, change):
        """The outputs of plain torch, and the right ones. A module that keeps statistics begins anew for each."""
        inputs = self.problem.draw(seed + 1, change)
        self.problem.make(seed)
        got = self.problem.outputs(self.problem.model, inputs)
        self.problem.make(seed)
        return got, self.want(inputs)

    def error(self, got, want):
        """How far plain torch is from doubles: none where numbers are not finite."""
        pairs = [(a, b) for a, b in zip(got, want, strict=True) if b.is_floating_point()]
        error = max((worst(a, b) for a, b in pairs), default=0.0)
        return error if math.isfinite(error) else None

    def known(self, seed, determined):
        """The outputs' types and shapes, how far plain torch is from doubles for each way to draw inputs, and how far
        results are apart for two sets of inputs. A way is left out where torch is farther off than `determined`."""
        errors, differ, may_skip = {}, 0.0, False
        for how, changes in WAYS.items():
            if how == "level" and not may_skip:
                continue
            for change in changes:
                got = want = None  # Large ones leave no room for the next.
                try:
                    got, want = self.both(seed, change)
                    errors[how] = self.error(got, want)
                except Exception as error:
                    # What changes inputs may break what a function asks of them. The GPU's failures are others'.
                    if change is None or "CUDA" in str(error):
                        raise
                    continue
                if how == "plain":
                    outputs = [(str(one.dtype).removeprefix("torch."), list(one.shape)) for one in got]
                    may_skip = errors[how] is not None and is_mostly_negligible(want)
                if errors[how] is not None and errors[how] <= determined:
                    self.changes[how] = change
                    if differ < DEPENDS:
                        other = self.problem.draw(seed + 2, change)
                        self.problem.make(seed)
                        differ = max(differ, apart(self.want(other), want))
                    break
        return {"errors": errors, "outputs": outputs, "differ": differ}

    def fill(self, asked, to):
        """Draws a module and fresh inputs, and writes inputs and parameters where the candidate finds them."""
        seed, how = asked["seed"], asked["draw"]
        self.forget()
        change = self.changes[how]
        self.inputs = self.problem.draw(seed + 1, change)
        self.problem.make(seed)
        if change:
            self.plain = self.problem.outputs(self.problem.model, self.inputs)
            self.problem.make(seed)
        parameters = self.problem.model.state_dict()
        self.filled = [(self.inputs[index], *place) for index, *place in asked["inputs"]]
        self.filled += [(parameters[name].detach().clone(), *place) for name, *place in asked["parameters"]]
        for tensor, offset, size in self.filled:
            if tensor.numel() * tensor.element_size() != size:
                raise ValueError(f"{list(tensor.shape)} {tensor.dtype} where the plan has {size} bytes")
            to.at(offset, tensor.dtype, tensor.numel()).copy_(tensor.reshape(-1))
        return {"filled": None}

    def right(self, asked, given, to):
        """Writes what is right for those inputs. Says whether the candidate left them as they were, and how far plain
        torch is off for inputs that are drawn otherwise."""
        same = True
        for tensor, offset, _ in self.filled:
            flat = tensor.reshape(-1)
            now = given.at(offset, tensor.dtype, flat.numel()).view(torch.uint8)
            # Bytes are compared: a NaN equals itself.
            was, step = flat.view(torch.uint8), 8 * PIECE
            for begin in range(0, was.numel(), step):
                same = same and torch.equal(now[begin : begin + step], was[begin : begin + step])
        want = self.want(self.inputs)
        error = self.error(self.plain, want) if self.plain else 0.0
        usual = []
        for tensor, (offset, count) in zip(want, asked["outputs"], strict=True):
            if tensor.numel() != count:
                raise ValueError(f"Model returns {list(tensor.shape)} where the plan has {count} elements")
            flat = tensor.reshape(-1)
            to.at(offset, torch.float64, count).copy_(flat)
            usual.append(rms(flat) if tensor.is_floating_point() else None)
        finite = all(one is None or math.isfinite(one) for one in usual)
        return {"same": same, "finite": finite, "error": error, "usual": usual if finite else [None] * len(usual)}
