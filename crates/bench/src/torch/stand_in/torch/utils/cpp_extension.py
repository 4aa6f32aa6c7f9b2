"""`load_inline`: the bench builds the sources in jails of their own, and calls record there."""

import struct

import link
import work
from torch import _types
from torch._tensor import Storage, Tensor, made, wire
from torch.utils._flags import definitions


def load_inline(
    name, cpp_sources=None, cuda_sources=None, sycl_sources=None, functions=None,
    extra_cflags=None, extra_cuda_cflags=None, extra_sycl_cflags=None, extra_ldflags=None,
    extra_include_paths=None, build_directory=None, verbose=False, with_cuda=None,
    is_python_module=True, with_pytorch_error_handling=True, keep_intermediates=True,
    use_pch=False, **named,
):
    """An extension by its sources."""
    if work.is_problem():
        raise NotImplementedError("a problem builds no extension")
    definitions(extra_ldflags)
    if extra_include_paths:
        link.refuse("load_inline with extra_include_paths reads files")
    if sycl_sources:
        link.refuse("load_inline with sycl_sources is no CUDA")
    built = link.ask(build={
        "name": str(name),
        "cpp": definitions(extra_cflags) + _joined(cpp_sources),
        "cuda": definitions(extra_cuda_cflags) + _joined(cuda_sources),
        "functions": None if functions is None else [str(one) for one in _named(functions)],
    })
    return Extension(str(name), built["extension"], built["functions"])


def load(*values, **named):
    link.refuse("torch.utils.cpp_extension.load reads files; load_inline takes sources")


class CppExtension:
    def __init__(self, *values, **named):
        link.refuse("setuptools build files; load_inline takes sources")


CUDAExtension = BuildExtension = CppExtension


def _named(functions):
    return [functions] if isinstance(functions, str) else list(functions)


def _joined(sources):
    if sources is None:
        return ""
    return sources if isinstance(sources, str) else "\n".join(sources)


class Extension:
    """A built extension: its functions are calls of the bench."""

    def __init__(self, name, number, functions):
        self.__name__ = name
        self._number = number
        self._functions = functions

    def __getattr__(self, name):
        if name.startswith("__") or self._functions is not None and name not in self._functions:
            raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")

        def call(*values, **named):
            return _call(self._number, name, values, named)

        call.__name__ = name
        self.__dict__[name] = call
        return call


def _call(number, name, values, named):
    if work.phase != "forward":
        link.refuse(f"`{name}` is called outside of `forward`: what the constructor computes no clock would see")
    said = link.ask(call={
        "extension": number,
        "function": name,
        "arguments": [_value(one) for one in values],
        "named": {key: _value(one) for key, one in named.items()},
    })
    if "raised" in said:
        raise RuntimeError(said["raised"])
    return _given(said["returned"])


def _value(value):
    """An argument as the bench reads it."""
    if value is None:
        return {"none": True}
    if isinstance(value, Tensor):
        return {"tensor": wire(value)}
    if isinstance(value, bool):
        return {"bool": value}
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise TypeError("an integer of more than 64 bits")
        return {"int": value}
    if isinstance(value, float):
        return {"float": struct.unpack("<Q", struct.pack("<d", value))[0]}
    if isinstance(value, str):
        return {"text": value}
    if isinstance(value, _types.dtype):
        return {"int": value.number}
    if isinstance(value, (list, tuple)):
        return {"list": [_value(one) for one in value]}
    raise TypeError(f"an extension's function takes no {type(value).__name__}")


def _given(value):
    """What a call returned."""
    (kind, of), = value.items()
    if kind == "none":
        return None
    if kind == "list":
        return [_given(one) for one in of]
    if kind == "float":
        return struct.unpack("<d", struct.pack("<Q", of))[0]
    if kind != "tensor":
        return of
    made_of = _types.BY_NUMBER[of["dtype"]]
    storage = Storage(0, made_of, _types.device("cuda"))
    storage.bytes, storage.number = of["bytes"], of["storage"]
    return made(of["shape"], made_of, storage.device, storage, of["strides"],
                  of["offset"] // made_of.itemsize)
