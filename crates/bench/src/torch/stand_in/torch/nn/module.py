"""`Module`, what it holds, and the containers."""

import builtins

import work
from sealed import SealedType
from torch._tensor import CUDA, Tensor


class Parameter(Tensor):
    """A tensor that a module lists."""

    def __init__(self, data=None, requires_grad=True):
        if data is None:
            data = Tensor(0)
        self._fill_in(data.shape, data.dtype, data.device, data._storage, data._strides, data._offset)
        self.requires_grad = requires_grad


class Buffer(Tensor):
    """A tensor that a module keeps beside its parameters."""

    def __init__(self, data=None, persistent=True):
        self._fill_in(data.shape, data.dtype, data.device, data._storage, data._strides, data._offset)


class Module(metaclass=SealedType):
    """A module as torch has it: parameters, buffers and modules by name."""

    training = True

    def __init__(self, *values, **named):
        self._hold()

    def _hold(self):
        held = self.__dict__
        for name in ("_parameters", "_buffers", "_modules"):
            held.setdefault(name, {})
        held.setdefault("_passing", builtins.set())

    def __setattr__(self, name, value):
        self._hold()
        kinds = ((Parameter, "_parameters"), (Buffer, "_buffers"), (Module, "_modules"))
        for kind, place in kinds:
            if isinstance(value, kind):
                for _, other in kinds:
                    self.__dict__[other].pop(name, None)
                self.__dict__.pop(name, None)
                self.__dict__[place][name] = value
                return
        for _, place in kinds:
            if name in self.__dict__[place] and (value is None or place == "_buffers"):
                self.__dict__[place][name] = value
                return
        object.__setattr__(self, name, value)

    def __getattr__(self, name):
        for place in ("_parameters", "_buffers", "_modules"):
            held = self.__dict__.get(place, {})
            if name in held:
                return held[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __delattr__(self, name):
        for place in ("_parameters", "_buffers", "_modules"):
            if name in self.__dict__.get(place, {}):
                del self.__dict__[place][name]
                return
        object.__delattr__(self, name)

    def __call__(self, *values, **named):
        return self.forward(*values, **named)

    def forward(self, *values, **named):
        raise NotImplementedError(f"`{type(self).__name__}` defines no forward")

    def register_parameter(self, name, value):
        self._hold()
        self._parameters[name] = value

    def register_buffer(self, name, value, persistent=True):
        self._hold()
        self._buffers[name] = value
        if not persistent:
            self._passing.add(name)

    def add_module(self, name, module):
        self._hold()
        self._modules[name] = module

    register_module = add_module

    # Walking.
    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        self._hold()
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, f"{prefix}.{name}" if prefix else name)

    def modules(self):
        return iter([module for _, module in self.named_modules()])

    def named_children(self):
        return iter([one for one in self._modules.items() if one[1] is not None])

    def children(self):
        return iter([module for _, module in self.named_children()])

    def _named(self, place):
        for prefix, module in self.named_modules():
            for name, value in module.__dict__[place].items():
                if value is not None:
                    yield f"{prefix}.{name}" if prefix else name, value

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        return iter(builtins.list(self._named("_parameters")))

    def parameters(self, recurse=True):
        return iter([value for _, value in self.named_parameters()])

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        return iter(builtins.list(self._named("_buffers")))

    def buffers(self, recurse=True):
        return iter([value for _, value in self.named_buffers()])

    def state_dict(self, *values, **named):
        found = {}
        for prefix, module in self.named_modules():
            for place in ("_parameters", "_buffers"):
                for name, value in module.__dict__[place].items():
                    if value is not None and name not in module._passing:
                        found[f"{prefix}.{name}" if prefix else name] = value
        return found

    def load_state_dict(self, state, strict=True, assign=False):
        return None

    # Moving: tensors that are held become others in place.
    def cuda(self, device=None):
        for _, module in self.named_modules():
            for place in ("_parameters", "_buffers"):
                for value in module.__dict__[place].values():
                    if value is not None and not value.is_cuda:
                        value._storage = value._moved(CUDA)._storage
        return self

    def to(self, *values, **named):
        return self

    def cpu(self):
        work.needs_numbers("Module.cpu")

    def _apply(self, function):
        return self

    def apply(self, function):
        for module in self.children():
            module.apply(function)
        function(self)
        return self

    def float(self):
        return self

    def half(self):
        work.by_torch("Module.half")
        return self

    double = bfloat16 = half

    def train(self, mode=True):
        for module in self.modules():
            module.__dict__["training"] = mode
        return self

    def eval(self):
        return self.train(False)

    def requires_grad_(self, wanted=True):
        return self

    def zero_grad(self, set_to_none=True):
        return None

    def get_parameter(self, name):
        return dict(self.named_parameters())[name]

    def extra_repr(self):
        return ""

    def register_forward_hook(self, *values, **named):
        work.unknown("Module.register_forward_hook")

    register_forward_pre_hook = register_full_backward_hook = register_forward_hook

    def __repr__(self):
        return f"{type(self).__name__}()"


class Sequential(Module):
    """Modules one after the other."""

    def __init__(self, *modules):
        super().__init__()
        if len(modules) == 1 and isinstance(modules[0], dict):
            for name, module in modules[0].items():
                self.add_module(name, module)
        else:
            for at, module in enumerate(modules):
                self.add_module(str(at), module)

    def forward(self, x):
        for module in self._modules.values():
            x = module(x)
        return x

    def __iter__(self):
        return iter(self._modules.values())

    def __len__(self):
        return len(self._modules)

    def __getitem__(self, at):
        found = builtins.list(self._modules.values())[at]
        return Sequential(*found) if isinstance(at, slice) else found

    def append(self, module):
        self.add_module(str(len(self)), module)
        return self


class ModuleList(Sequential):
    """Modules by number."""

    def __init__(self, modules=()):
        super().__init__(*modules)

    def extend(self, modules):
        for module in modules:
            self.append(module)
        return self

    def forward(self, *values, **named):
        raise NotImplementedError("a ModuleList is not called")


class ModuleDict(Module):
    """Modules by name."""

    def __init__(self, modules=None):
        super().__init__()
        for name, module in (modules or {}).items():
            self.add_module(name, module)

    def __getitem__(self, name):
        return self._modules[name]

    def __setitem__(self, name, module):
        self.add_module(name, module)

    def __contains__(self, name):
        return name in self._modules

    def keys(self):
        return self._modules.keys()

    def items(self):
        return self._modules.items()

    def values(self):
        return self._modules.values()


class ParameterList(Module):
    """Parameters by number."""

    def __init__(self, values=()):
        super().__init__()
        for at, value in enumerate(values):
            self.register_parameter(str(at), value)

    def __getitem__(self, at):
        return builtins.list(self._parameters.values())[at]

    def __iter__(self):
        return iter(self._parameters.values())

    def __len__(self):
        return len(self._parameters)


class ParameterDict(ParameterList):
    """Parameters by name."""

    def __init__(self, values=None):
        Module.__init__(self)
        for name, value in (values or {}).items():
            self.register_parameter(name, value)

    def __getitem__(self, name):
        return self._parameters[name]
