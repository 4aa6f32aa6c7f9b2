"""The module in which torch keeps `Parameter`."""

from torch.nn.module import Buffer, Parameter
