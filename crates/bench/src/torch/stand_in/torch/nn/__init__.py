"""Modules with their parameters. Calling one that computes is for problems only."""

import work
from torch import _tensor
from torch._tensor import Tensor
from torch.nn import functional, init
from torch.nn.module import Buffer, Module, ModuleDict, ModuleList, Parameter, ParameterDict, ParameterList, Sequential
from torch.nn.layers import *
from torch.nn import layers, modules, parameter
