"""A stand-in for torch: shapes, types and devices, and no numbers."""

import builtins
import math

import work
from sealed import SealedType
from torch import _operations, _types
from torch._tensor import Tensor, _where
from torch._tensor import made as _new
from torch._types import (
    Size, bfloat16, device, dtype, float16, float32, float64, int8, int16, int32, int64, uint8,
)
from torch._types import ints as _ints

_operations.equip()
for _name in _operations.TABLE:
    globals()[_name] = _operations.operation(f"torch.{_name}", _name)

half, double, long, short = float16, float64, int64, int16
float, int, bool = float32, int32, _types.bool_
FloatTensor = IntTensor = LongTensor = Tensor
__version__ = "2.5.0"
contiguous_format, preserve_format, channels_last = "contiguous", "preserve", "channels_last"
strided = "strided"
inf, nan, pi, e = math.inf, math.nan, math.pi, math.e

_default = [float32]


def _start_answer():
    """What runs from now on is an answer's."""
    work.phase = "constructor"


def _made(sizes, of, where, fill=None):
    new = _new(_ints(sizes), of or _default[0], _where(where))
    return new if fill is None else new.fill_(fill)


def empty(*size, dtype=None, device=None, out=None, **named):
    return _made(size or (named.get("size", ()),), dtype, device)


def zeros(*size, dtype=None, device=None, out=None, **named):
    return _made(size or (named.get("size", ()),), dtype, device, 0)


def ones(*size, dtype=None, device=None, out=None, **named):
    return _made(size or (named.get("size", ()),), dtype, device, 1)


def full(size, fill_value, dtype=None, device=None, **named):
    of = dtype or (float32 if isinstance(fill_value, builtins.float) else int64)
    return _made((size,), of, device, fill_value)


def empty_strided(size, stride, dtype=None, device=None, **named):
    last = builtins.sum((a - 1) * b for a, b in zip(size, stride))
    base = _made((last + 1,), dtype, device)
    return base._seen(size, stride)


def empty_like(like, dtype=None, device=None, memory_format=None, **named):
    if memory_format not in (None, "contiguous", "preserve"):
        work.unknown("torch.empty_like with channels last")
    strides = None if memory_format == "contiguous" else like._strides_of_a_copy()
    return _new(like.shape, dtype or like.dtype, _where(device, like), None, strides)


def zeros_like(like, dtype=None, device=None, **named):
    return empty_like(like, dtype, device, **named).fill_(0)


def ones_like(like, dtype=None, device=None, **named):
    return empty_like(like, dtype, device, **named).fill_(1)


def full_like(like, fill_value, dtype=None, device=None, **named):
    return empty_like(like, dtype, device, **named).fill_(fill_value)


def _random(name):
    def make(*size, dtype=None, device=None, generator=None, **named):
        if work.phase == "forward":
            work.by_torch(f"torch.{name}")
        made = _made(size or (named.get("size", ()),), dtype, device)
        made._storage.given = True
        return made

    return make


rand, randn, randperm = _random("rand"), _random("randn"), _random("randperm")


def randint(low, high=None, size=None, dtype=None, device=None, **named):
    if size is None:
        size, high = high, low
    return _random("randint")(size, dtype=dtype or int64, device=device)


def normal(mean=0.0, std=1.0, size=(), **named):
    return _random("normal")(size)


def rand_like(like, dtype=None, device=None, **named):
    return _random("rand_like")(like.shape, dtype=dtype or like.dtype, device=device or like.device)


randn_like = rand_like


def bernoulli(like, p=None, **named):
    return rand_like(like)


def _shape_of_list(data):
    shape = []
    while isinstance(data, (list, tuple)):
        shape.append(len(data))
        data = data[0] if data else 0
    return shape, data


def tensor(data, dtype=None, device=None, **named):
    if isinstance(data, Tensor):
        return data.clone()
    shape, first = _shape_of_list(data)
    natural = _types.bool_ if isinstance(first, builtins.bool) else (
        float32 if isinstance(first, builtins.float) else int64)
    made = _made((shape,), dtype or natural, device)
    if shape:
        made._storage.given = True
        return made
    return made.fill_(data)


as_tensor = tensor


def arange(*ends, dtype=None, device=None, **named):
    start, end, step = (0, ends[0], 1) if len(ends) == 1 else (*ends, 1)[:3]
    made = _made((math.ceil((end - start) / step),), dtype or int64, device)
    made._storage.given = True
    return made


def linspace(start, end, steps, dtype=None, device=None, **named):
    made = _made((steps,), dtype, device)
    made._storage.given = True
    return made


def eye(n, m=None, dtype=None, device=None, **named):
    made = _made((n, m or n), dtype, device)
    made._storage.given = True
    return made


# The same views by function.
def _as_function(name):
    def call(tensor, *values, **named):
        return getattr(tensor, name)(*values, **named)

    call.__name__ = name
    return call


for _name in """
    reshape flatten permute transpose swapaxes movedim t unsqueeze squeeze narrow select split chunk
    unbind unflatten clone numel is_floating_point detach ravel
""".split():
    globals()[_name] = _as_function(_name)


def broadcast_to(tensor, size):
    return tensor.expand(size)


def is_tensor(value):
    return isinstance(value, Tensor)


def finfo(of=None):
    return _Limits(of or float32)


iinfo = finfo


class _Limits:
    """The limits of a type."""

    def __init__(self, of):
        floats = {"float16": (65504.0, 2.0**-10, 2.0**-14), "bfloat16": (3.3895313892515355e38, 2.0**-7, 2.0**-126),
                  "float64": (1.7976931348623157e308, 2.0**-52, 2.0**-1022)}
        self.bits = 8 * of.itemsize
        if of.is_floating_point:
            self.max, self.eps, self.tiny = floats.get(of.name, (3.4028234663852886e38, 2.0**-23, 2.0**-126))
            self.min = -self.max
        else:
            self.max, self.min = 2 ** (self.bits - 1) - 1, -2 ** (self.bits - 1)


class no_grad(metaclass=SealedType):
    """Nothing has gradients here anyway."""

    def __init__(self, *values, **named):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *what):
        return False

    def __call__(self, of):
        return of


inference_mode = enable_grad = no_grad


def set_grad_enabled(wanted):
    return no_grad()


def is_grad_enabled():
    return True


def manual_seed(seed):
    return None


seed = manual_seed


class Generator(metaclass=SealedType):
    """Nothing is drawn here."""

    def __init__(self, device=None):
        self.device = _where(device)

    def manual_seed(self, seed):
        return self

    def initial_seed(self):
        return 0


def get_default_dtype():
    return _default[0]


def _setting(name):
    def change(*values, **named):
        if not work.is_problem():
            import link

            link.refuse(f"it changes a setting of torch: `torch.{name}`")

    return change


set_default_dtype = _setting("set_default_dtype")
set_default_device = _setting("set_default_device")
set_float32_matmul_precision = _setting("set_float32_matmul_precision")
use_deterministic_algorithms = _setting("use_deterministic_algorithms")
set_num_threads = _setting("set_num_threads")

# `float`, `int` and `bool` are types of torch in this file from here on.
from torch import amp, autograd, backends, compiler, cuda, jit, nn, utils, version
from torch import compiler as _dynamo
from torch.amp import autocast
