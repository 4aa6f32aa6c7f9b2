import torch
import torch.nn as nn


class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))
        self.register_buffer("seen", torch.zeros(2))
        self.register_buffer("passing", torch.zeros(2), persistent=False)
        self.register_parameter("none", None)
        self.plain = torch.zeros(5)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 2, bias=False)
        self.inner = Inner()
        self.layers = nn.ModuleList([nn.LayerNorm((2, 3)), nn.BatchNorm1d(7)])
        self.last = nn.Sequential(nn.Conv2d(4, 6, 3, groups=2), nn.ReLU())

    def forward(self, x):
        return self.first(x)


def get_init_inputs():
    names = list(Model().state_dict())
    assert names == [
        "first.weight", "inner.scale", "inner.seen", "layers.0.weight", "layers.0.bias",
        "layers.1.weight", "layers.1.bias", "layers.1.running_mean", "layers.1.running_var",
        "layers.1.num_batches_tracked", "last.0.weight", "last.0.bias",
    ], names
    state = Model().state_dict()
    assert state["last.0.weight"].shape == (6, 2, 3, 3)
    assert nn.ConvTranspose2d(4, 6, 3, groups=2).weight.shape == (4, 3, 3, 3)
    model = Model()
    assert len(list(model.parameters())) == 8 and model.inner.none is None
    assert isinstance(model.first.weight, nn.Parameter) and model.training
    assert not model.eval().training and len(model.layers) == 2
    model.inner.scale = nn.Parameter(torch.ones(4))
    assert model.state_dict()["inner.scale"].shape == (4,)
    assert model.last[0].kernel_size == (3, 3) and model.last[0].stride == (1, 1)
    assert model.layers[0].normalized_shape == (2, 3) and model.layers[1].eps == 1e-5
    try:
        model.absent
    except AttributeError:
        return []
    raise AssertionError("no such attribute")


def get_inputs():
    return [torch.rand(3, 4)]
