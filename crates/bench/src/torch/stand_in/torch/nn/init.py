"""Ways to fill parameters. Their numbers are the problem's, so nothing happens here."""

import work


def _filled(name):
    def fill(tensor, *values, **named):
        if work.phase == "forward":
            work.by_torch(f"torch.nn.init.{name}")
        tensor._storage.unknown()
        return tensor

    return fill


for _name in """
    uniform_ normal_ eye_ dirac_ xavier_uniform_ xavier_normal_
    kaiming_uniform_ kaiming_normal_ trunc_normal_ orthogonal_ sparse_
""".split():
    globals()[_name] = _filled(_name)


def constant_(tensor, val):
    return tensor.fill_(val)


def ones_(tensor):
    return constant_(tensor, 1)


def zeros_(tensor):
    return constant_(tensor, 0)


def calculate_gain(nonlinearity, param=None):
    return {"relu": 2**0.5, "tanh": 5 / 3}.get(nonlinearity, 1.0)


def _calculate_fan_in_and_fan_out(tensor):
    receptive = tensor[0][0].numel() if tensor.dim() > 2 else 1
    return tensor.shape[1] * receptive, tensor.shape[0] * receptive
