"""One GPU, one stream."""

import work
from torch import amp
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


class device:
    """The one GPU as a context."""

    def __init__(self, which=None):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *what):
        return False


device_of = device


class _Properties:
    """What an answer may ask of the GPU: that of an H200."""

    name = "NVIDIA H200"
    major, minor = 9, 0
    multi_processor_count = 132
    total_memory = 150_000_000_000
    max_threads_per_multi_processor = 2048
    shared_memory_per_block = 48 << 10
    shared_memory_per_multiprocessor = 228 << 10
    warp_size = 32


def get_device_properties(device=None):
    return _Properties()


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


def is_current_stream_capturing():
    return False


def mem_get_info(device=None):
    return (_Properties.total_memory, _Properties.total_memory)
