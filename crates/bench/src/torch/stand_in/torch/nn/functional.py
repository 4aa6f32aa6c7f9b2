"""Functions that compute: problems have their shapes, answers are refused."""

from torch import _operations

for _name in _operations.TABLE:
    globals()[_name] = _operations.operation(f"torch.nn.functional.{_name}", _name)
