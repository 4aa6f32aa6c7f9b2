"""What problems and answers use of torch.utils."""

from torch.utils import cpp_extension
