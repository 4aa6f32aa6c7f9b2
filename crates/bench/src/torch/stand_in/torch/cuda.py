"""One GPU, one stream."""

import work
from torch._types import device as _device


class _Stream:
    """The stream."""

    cuda_stream = 0
    device = _device("cuda")

    def synchronize(self):
        return None

    def __enter__(self):
        return self

    def __exit__(self, *what):
        return False


_stream = _Stream()


def is_available():
    return True


def current_stream(device=None):
    return _stream


default_stream = current_stream


def current_device():
    return 0


def device_count():
    return 1


def synchronize(device=None):
    return None


def empty_cache():
    return None


def manual_seed(seed):
    return None


manual_seed_all = manual_seed


def set_device(device):
    return None


def get_device_name(device=None):
    return "NVIDIA H200"


def get_device_capability(device=None):
    return (9, 0)
