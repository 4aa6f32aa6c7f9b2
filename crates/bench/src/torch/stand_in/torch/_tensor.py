"""A tensor of shapes: sizes, strides, a type, a device and a storage, and no numbers."""

import builtins
import math

import link
import work
from sealed import SealedType
from torch._memory import CPU, CUDA, Storage, contiguous_strides, dense_strides, is_dense
from torch._memory import number, pattern, place, together, wire
from torch._types import Size, bool_, device, dtype, float16, float32, float64, bfloat16
from torch._types import int8, int16, int32, int64, ints, uint8


# Parts of one tensor that are set one by one before any kernel has seen it.
PARTS = 1000


def made(shape, of=float32, where=CPU, storage=None, strides=None, offset=0):
    """A tensor by its parts."""
    tensor = Tensor.__new__(Tensor)
    tensor._fill_in(shape, of, where, storage, strides, offset)
    return tensor


class Tensor(metaclass=SealedType):
    """What torch calls a tensor."""

    def __init__(self, *sizes, device=None):
        """`torch.Tensor(2, 3)`: memory whose numbers nobody knows."""
        if len(sizes) == 1 and isinstance(sizes[0], (list, tuple)):
            work.unknown("torch.Tensor of numbers")
        self._fill_in(ints(sizes), float32, _where(device))
        self._storage.given = True

    def _fill_in(self, shape, of, where, storage=None, strides=None, offset=0):
        self.shape = Size(shape)
        self._type = of
        self._strides = contiguous_strides(self.shape) if strides is None else tuple(strides)
        self._offset = offset
        self._storage = storage or Storage(math.prod(self.shape), of, where)
        self.requires_grad = False
        self.grad = None

    # What it is.
    dtype = property(lambda self: self._type)
    device = property(lambda self: self._storage.device)
    is_cuda = property(lambda self: self.device.type == "cuda")
    is_cpu = property(lambda self: self.device.type == "cpu")
    ndim = property(lambda self: len(self.shape))
    itemsize = property(lambda self: self._type.itemsize)
    nbytes = property(lambda self: self.numel() * self._type.itemsize)
    layout = property(lambda self: "strided")
    is_sparse = property(lambda self: False)
    is_leaf = property(lambda self: True)
    grad_fn = property(lambda self: None)

    def size(self, dim=None):
        return self.shape if dim is None else self.shape[dim]

    def dim(self):
        return len(self.shape)

    ndimension = dim

    def numel(self):
        return math.prod(self.shape)

    nelement = numel

    def stride(self, dim=None):
        return self._strides if dim is None else self._strides[dim]

    def storage_offset(self):
        return self._offset

    def element_size(self):
        return self._type.itemsize

    def is_floating_point(self):
        return self._type.is_floating_point

    def is_contiguous(self, memory_format=None):
        if memory_format not in (None, "contiguous"):
            return False
        step = 1
        for size, stride in zip(reversed(self.shape), reversed(self._strides)):
            if size != 1 and stride != step:
                return self.numel() == 0
            step *= size
        return True

    def get_device(self):
        return 0 if self.is_cuda else -1

    def __len__(self):
        if not self.shape:
            raise TypeError("len() of a 0-d tensor")
        return self.shape[0]

    def __iter__(self):
        return iter([self.select(0, at) for at in range(len(self))])

    def __hash__(self):
        return id(self)

    def __repr__(self):
        return f"tensor(shape={list(self.shape)}, dtype={self._type})"

    __str__ = __repr__

    def __format__(self, how):
        return repr(self)

    # The same memory, seen in another way.
    def _seen(self, shape, strides, offset=None):
        return made(shape, self._type, self.device, self._storage, strides,
                    self._offset if offset is None else offset)

    def _at(self, dim, room=0):
        count = len(self.shape) + room
        if not -max(count, 1) <= dim < max(count, 1):
            raise IndexError(f"dimension {dim} of a tensor with {count} dimensions")
        return dim % max(count, 1)

    def detach(self):
        return self._seen(self.shape, self._strides)

    data = property(detach, lambda self, value: self.copy_(value))

    def _reshaped(self, shape):
        """The strides of a new shape over the same memory; nothing if there are none."""
        if self.is_contiguous():
            return contiguous_strides(shape)
        strides, old = [], [(s, t) for s, t in zip(self.shape, self._strides) if s != 1]
        at = len(old) - 1
        left = 1
        step = old[at][1] if old else 1
        for size in reversed(shape):
            if size == 1:
                strides.insert(0, step * left)
                continue
            if at < 0:
                return None
            if left == 1:
                step = old[at][1]
            whole = old[at][0]
            while whole % (left * size) and at > 0 and old[at - 1][1] == old[at][1] * old[at][0]:
                at -= 1
                old[at] = (old[at][0] * whole, step)
                whole = old[at][0]
            if whole % (left * size):
                return None
            strides.insert(0, step * left)
            left *= size
            if left == whole:
                left, at = 1, at - 1
        return tuple(strides)

    def _filled(self, sizes):
        shape = ints(sizes)
        known = math.prod(one for one in shape if one != -1)
        if shape.count(-1) > 1:
            raise RuntimeError("only one dimension can be inferred")
        shape = [self.numel() // max(known, 1) if one == -1 else one for one in shape]
        if math.prod(shape) != self.numel():
            raise RuntimeError(f"shape {shape} is invalid for {self.numel()} elements")
        return shape

    def view(self, *sizes):
        if len(sizes) == 1 and isinstance(sizes[0], dtype):
            if sizes[0].itemsize != self._type.itemsize:
                work.unknown("Tensor.view with a type of another size")
            seen = self.detach()
            seen._type = sizes[0]
            return seen
        shape = self._filled(sizes)
        strides = self._reshaped(shape)
        if strides is None:
            raise RuntimeError("view size is not compatible with the tensor's size and stride")
        return self._seen(shape, strides)

    def view_as(self, other):
        return self.view(other.shape)

    def reshape(self, *sizes):
        shape = self._filled(sizes)
        strides = self._reshaped(shape)
        return self._copied("reshape", shape) if strides is None else self._seen(shape, strides)

    def reshape_as(self, other):
        return self.reshape(other.shape)

    def flatten(self, start_dim=0, end_dim=-1):
        if not self.shape:
            return self.reshape(1)
        first, last = self._at(start_dim), self._at(end_dim)
        middle = math.prod(self.shape[first:last + 1])
        return self.reshape([*self.shape[:first], middle, *self.shape[last + 1:]])

    def unflatten(self, dim, sizes):
        at = self._at(dim)
        return self.reshape([*self.shape[:at], *sizes, *self.shape[at + 1:]])

    ravel = flatten

    def permute(self, *dims):
        order = [self._at(dim) for dim in ints(dims)]
        if sorted(order) != list(range(len(self.shape))):
            raise RuntimeError("permute does not name every dimension once")
        return self._seen([self.shape[at] for at in order], [self._strides[at] for at in order])

    def transpose(self, dim0, dim1):
        order = list(range(len(self.shape)))
        a, b = self._at(dim0), self._at(dim1)
        if order:
            order[a], order[b] = order[b], order[a]
        return self.permute(order)

    swapaxes = swapdims = transpose

    def movedim(self, source, destination):
        order = [at for at in range(len(self.shape)) if at != self._at(source)]
        order.insert(self._at(destination), self._at(source))
        return self.permute(order)

    def t(self):
        return self.transpose(0, 1) if len(self.shape) == 2 else self.detach()

    T = property(lambda self: self.permute(list(range(len(self.shape)))[::-1]))
    mT = property(lambda self: self.transpose(-2, -1))

    def unsqueeze(self, dim):
        at = self._at(dim, 1)
        step = self._strides[at] * self.shape[at] if at < len(self.shape) else 1
        return self._seen([*self.shape[:at], 1, *self.shape[at:]],
                          [*self._strides[:at], step, *self._strides[at:]])

    def squeeze(self, dim=None):
        dims = range(len(self.shape)) if dim is None else [self._at(one) for one in ints((dim,))]
        kept = [at for at in range(len(self.shape)) if at not in dims or self.shape[at] != 1]
        return self._seen([self.shape[at] for at in kept], [self._strides[at] for at in kept])

    def expand(self, *sizes):
        shape = ints(sizes)
        new = len(shape) - len(self.shape)
        strides = [0] * new
        for at, (old, step) in enumerate(zip(self.shape, self._strides)):
            wanted = old if shape[new + at] == -1 else shape[new + at]
            if old not in (1, wanted):
                raise RuntimeError(f"cannot expand {old} to {wanted}")
            strides.append(step if old == wanted else 0)
            shape[new + at] = wanted
        return self._seen(shape, strides)

    def expand_as(self, other):
        return self.expand(other.shape)

    def narrow(self, dim, start, length):
        at = self._at(dim)
        if start < 0 or length < 0 or start + length > self.shape[at]:
            raise RuntimeError(f"narrow goes beyond the {self.shape[at]} of dimension {dim}")
        shape = [*self.shape[:at], length, *self.shape[at + 1:]]
        return self._seen(shape, self._strides, self._offset + start * self._strides[at])

    def select(self, dim, index):
        at = self._at(dim)
        if not -self.shape[at] <= index < self.shape[at]:
            raise IndexError(f"index {index} of a dimension of {self.shape[at]}")
        part = self.narrow(at, index % self.shape[at], 1)
        return part.squeeze(at)

    def split(self, size, dim=0):
        whole = self.shape[self._at(dim)]
        if not isinstance(size, (list, tuple)):
            size = [min(size, whole - at) for at in range(0, whole, size)]
        starts = [sum(size[:at]) for at in range(len(size))]
        return tuple(self.narrow(dim, at, one) for at, one in zip(starts, size))

    def chunk(self, chunks, dim=0):
        return self.split(-(-self.shape[self._at(dim)] // chunks), dim)

    def unbind(self, dim=0):
        return tuple(self.select(dim, at) for at in range(self.shape[self._at(dim)]))

    def __getitem__(self, key):
        seen, at = self, 0
        keys = list(key) if isinstance(key, tuple) else [key]
        if Ellipsis in [one for one in keys if not isinstance(one, Tensor)]:
            where = keys.index(Ellipsis)
            used = sum(one is not None for one in keys) - 1
            keys[where:where + 1] = [slice(None)] * (len(self.shape) - used)
        for one in keys:
            if one is None:
                seen = seen.unsqueeze(at)
                at += 1
            elif isinstance(one, slice):
                start, stop, step = one.indices(seen.shape[at])
                count = len(range(start, stop, step))
                part = seen.narrow(at, min(start, seen.shape[at]), 0) if not count else seen
                shape, strides = list(part.shape), list(part._strides)
                shape[at], strides[at] = count, strides[at] * step
                move = start * part._strides[at] if count else 0
                seen = part._seen(shape, strides, part._offset + move)
                at += 1
            elif hasattr(one, "__index__") and not isinstance(one, (Tensor, builtins.bool)):
                seen = seen.select(at, one)
            else:
                work.by_torch("Tensor.__getitem__ with a tensor or a list")
                work.unknown("indexing with a tensor")
        return seen

    def __setitem__(self, key, value):
        part = self[key]
        part.copy_(value) if isinstance(value, Tensor) else part.fill_(value)

    # The same numbers in memory of their own.
    def _copied(self, name, shape=None):
        if work.is_problem():
            return made(self.shape if shape is None else shape, self._type, self.device)
        work.by_torch(f"Tensor.{name} of a tensor whose elements lie in another order")

    def contiguous(self, memory_format=None):
        if memory_format not in (None, "contiguous", "preserve"):
            work.by_torch("Tensor.contiguous with channels last")
        return self if self.is_contiguous() else self._copied("contiguous")

    def _is_dense(self):
        return is_dense(self.shape, self._strides)

    def _strides_of_a_copy(self):
        return self._strides if self._is_dense() else dense_strides(self.shape, self._strides)

    def _is_whole(self):
        return self._is_dense() and self.nbytes == self._storage.bytes

    def clone(self, memory_format=None):
        if memory_format == "contiguous" and not self.is_contiguous():
            return self._copied("clone")
        if not self._is_dense():
            return self._copied("clone")
        new = made(self.shape, self._type, self.device, None, self._strides)
        new._take(self)
        return new

    def copy_(self, other, non_blocking=False):
        self._take(other)
        return self

    def _lies_like(self, other):
        return self._is_dense() and (
            self._strides == other._strides or self.is_contiguous() and other.is_contiguous())

    def _take(self, other):
        """The numbers of another tensor: by a copy, or as far as they are known."""
        storage, theirs = self._storage, other._storage
        alike = self._type is other._type and self.shape == other.shape and self._lies_like(other)
        if work.phase == "forward" and self.is_cuda and other.is_cuda:
            if not alike:
                work.by_torch("Tensor.copy_ between tensors of other types, shapes or orders")
            link.ask(copy=[together(wire(self)), together(wire(other))])
        elif theirs.number is not None or storage.number is not None:
            wire(self), wire(other)
        elif theirs.fill is not None and not theirs.given and not theirs.parts:
            self.fill_(number(theirs.fill, other._type))
        elif alike and self._is_whole() and other._is_whole():
            storage.like(theirs)
        else:
            storage.unknown()

    def to(self, *values, **named):
        of, where = self._type, self.device
        for one in [*values, *named.values()]:
            if isinstance(one, dtype):
                of = one
            elif isinstance(one, Tensor):
                of, where = one._type, one.device
            elif isinstance(one, (device, str)) and one not in ("contiguous", "preserve"):
                where = device(one)
        return self._typed(of)._moved(where)

    def _typed(self, of):
        if of is self._type:
            return self
        # What is not yet written has no numbers that torch would convert, and one that repeats is
        # known in any type.
        storage = self._storage
        if work.phase == "forward" and (storage.number is not None or storage.given or storage.parts):
            work.by_torch(f"Tensor.to({of})")
        new = made(self.shape, of, self.device, None, self._strides_of_a_copy())
        if storage.given or storage.parts:
            new._storage.unknown()
        elif storage.fill is not None:
            new.fill_(number(storage.fill, self._type))
        return new

    def _moved(self, where):
        if where == self.device:
            return self
        if where.type == "cpu":
            if not work.is_problem():
                work.needs_numbers("Tensor.cpu")
        new = made(self.shape, self._type, where, None, self._strides, 0)
        storage = self._storage
        new._storage = Storage(0, self._type, where)
        new._storage.bytes = storage.bytes
        new._storage.like(storage)
        new._offset = self._offset
        new.requires_grad = self.requires_grad
        return new

    def cuda(self, *values, **named):
        return self.to(CUDA)

    def cpu(self):
        return self.to(CPU)

    def type(self, of=None):
        if of is None:
            return f"torch.{'cuda.' if self.is_cuda else ''}FloatTensor"
        return self._typed(of)

    def type_as(self, other):
        return self._typed(other._type)

    def float(self):
        return self._typed(float32)

    def double(self):
        return self._typed(float64)

    def half(self):
        return self._typed(float16)

    def bfloat16(self):
        return self._typed(bfloat16)

    def int(self):
        return self._typed(int32)

    def long(self):
        return self._typed(int64)

    def short(self):
        return self._typed(int16)

    def char(self):
        return self._typed(int8)

    def byte(self):
        return self._typed(uint8)

    def bool(self):
        return self._typed(bool_)

    # Gradients: there are none.
    def requires_grad_(self, wanted=True):
        self.requires_grad = wanted
        return self

    def detach_(self):
        return self

    def record_stream(self, stream):
        return None

    def data_ptr(self):
        work.needs_numbers("Tensor.data_ptr")

    # New memory like it.
    def _place(self, number, is_own=False):
        storage = self._storage
        storage.number, storage.given = number, False
        # Where the numbers are the problem's, so are those of parts.
        storage.set_parts() if is_own else storage.parts.clear()

    def new_empty(self, *sizes, dtype=None, device=None, **named):
        return made(ints(sizes), dtype or self._type, _where(device, self))

    def new_zeros(self, *sizes, dtype=None, device=None, **named):
        return self.new_empty(*sizes, dtype=dtype, device=device).fill_(0)

    def new_ones(self, *sizes, dtype=None, device=None, **named):
        return self.new_empty(*sizes, dtype=dtype, device=device).fill_(1)

    def new_full(self, size, value, dtype=None, device=None, **named):
        return self.new_empty(size, dtype=dtype, device=device).fill_(value)

    def fill_(self, value):
        """Memory set to one value: a memset, which a plan has."""
        if isinstance(value, Tensor):
            work.by_torch("Tensor.fill_ with a tensor")
            return self
        storage = self._storage
        fill = pattern(value, self._type)
        is_new = storage.number is None
        if is_new and self._is_whole():
            storage.fill, storage.parts, storage.given = fill, [], False
        elif is_new and self._is_dense() and not storage.given and len(storage.parts) < PARTS:
            storage.parts.append((together(place(self)), fill))
        elif work.phase == "forward":
            if not self._is_dense():
                work.by_torch("Tensor.fill_ of a tensor whose elements do not lie together")
            link.ask(set=[together(wire(self)), fill.hex()])
        elif is_new:
            storage.unknown()
        return self

    def zero_(self):
        return self.fill_(0)

    # Numbers.
    def __bool__(self):
        work.needs_numbers("bool(tensor)")

    def __float__(self):
        work.needs_numbers("float(tensor)")

    def __int__(self):
        work.needs_numbers("int(tensor)")

    def __index__(self):
        work.needs_numbers("a tensor as an index")

    def __contains__(self, value):
        work.needs_numbers("value in tensor")

    def item(self):
        work.needs_numbers("Tensor.item")

    def tolist(self):
        work.needs_numbers("Tensor.tolist")

    def numpy(self, *values, **named):
        work.needs_numbers("Tensor.numpy")

    def __array__(self, *values, **named):
        work.needs_numbers("Tensor.__array__")

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        work.unknown(f"Tensor.{name}")


def _where(named, like=None):
    if named is None:
        return CPU if like is None else like.device
    return device(named)
