"""Settings of torch. They can be read; an answer changes none."""

import link
import work


class _Settings:
    """One group of settings."""

    def __init__(self, name, **values):
        self.__dict__.update(values)
        self.__dict__["_name"] = name

    def __setattr__(self, name, value):
        if not work.is_problem():
            link.refuse(f"it changes a setting of torch: `torch.backends.{self._name}.{name}`")
        self.__dict__[name] = value

    def is_available(self):
        return True

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        work.unknown(f"torch.backends.{self._name}.{name}")


cudnn = _Settings("cudnn", benchmark=False, enabled=True, deterministic=False, allow_tf32=False)
cuda = _Settings("cuda", matmul=_Settings("cuda.matmul", allow_tf32=False))
