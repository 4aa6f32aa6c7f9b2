"""Modules and classes that an answer cannot change."""

import sys
import types

import link
import work

_sealed = set()


class SealedModule(types.ModuleType):
    """A module whose names stay what they are, and whose missing names are refused by name."""

    def __setattr__(self, name, value):
        if self in _sealed and not (isinstance(value, types.ModuleType) and work.is_problem()):
            link.refuse(f"it changes torch: `{self.__name__}.{name}` is assigned to")
        super().__setattr__(name, value)

    def __delattr__(self, name):
        link.refuse(f"it changes torch: `{self.__name__}.{name}` is deleted")

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        work.unknown(f"{self.__name__}.{name}")


class SealedType(type):
    """A class that keeps its attributes; classes that an answer derives from it are its own."""

    def __setattr__(cls, name, value):
        if cls in _sealed:
            link.refuse(f"it changes torch: `{cls.__module__}.{cls.__name__}.{name}` is assigned to")
        super().__setattr__(name, value)

    def __delattr__(cls, name):
        link.refuse(f"it changes torch: `{cls.__module__}.{cls.__name__}.{name}` is deleted")


def seal():
    """From now on, nothing of torch changes."""
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] != "torch":
            continue
        for value in list(vars(module).values()):
            if isinstance(value, SealedType):
                _sealed.add(value)
        module.__class__ = SealedModule
        _sealed.add(module)
