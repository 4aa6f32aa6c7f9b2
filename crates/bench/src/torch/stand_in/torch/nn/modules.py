"""Where torch keeps its layers, and the tuples that they take."""

import types

from torch.nn.layers import *
from torch.nn.module import Module, ModuleDict, ModuleList, Sequential


def _ntuple(count):
    def repeated(value):
        return tuple(value) if isinstance(value, (tuple, list)) else (value,) * count

    return repeated


utils = types.ModuleType("torch.nn.modules.utils")
utils._ntuple = _ntuple
utils._single, utils._pair, utils._triple, utils._quadruple = map(_ntuple, (1, 2, 3, 4))
