"""Layers with the parameters that torch gives them."""

import work
from torch import _shapes as shapes
from torch._tensor import made
from torch._types import int64
from torch.nn.module import Module, Parameter, Sequential


def _random(*shape):
    drawn = made(shape)
    drawn._storage.given = True
    return Parameter(drawn)


def _buffer(shape, of=None):
    kept = made(shape) if of is None else made(shape, of)
    kept._storage.given = True
    return kept


def _computes(layer):
    """Says that a layer of torch's computes, by its own name, whatever an answer derives from it."""
    ours = [one for one in type(layer).__mro__ if one.__module__.startswith("torch.")]
    work.by_torch(f"torch.nn.{ours[0].__name__}")


class _Layer(Module):
    """A layer: its call computes."""

    def __call__(self, *values, **named):
        if not work.is_problem() and type(self).__module__.startswith("torch."):
            _computes(self)
        return self.forward(*values, **named)


class Linear(_Layer):
    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = _random(out_features, in_features)
        self.register_parameter("bias", _random(out_features) if bias else None)

    def forward(self, x):
        work.by_torch("torch.nn.Linear")
        return shapes.linear(x, self.weight)

    def reset_parameters(self):
        return None


class Bilinear(_Layer):
    def __init__(self, in1_features, in2_features, out_features, bias=True):
        super().__init__()
        self.weight = _random(out_features, in1_features, in2_features)
        self.register_parameter("bias", _random(out_features) if bias else None)

    def forward(self, a, b):
        work.by_torch("torch.nn.Bilinear")
        return shapes.like(a, [*a.shape[:-1], self.weight.shape[0]])


class Embedding(_Layer):
    def __init__(self, num_embeddings, embedding_dim, padding_idx=None, **named):
        super().__init__()
        self.num_embeddings, self.embedding_dim, self.padding_idx = num_embeddings, embedding_dim, padding_idx
        self.weight = _random(num_embeddings, embedding_dim)

    def forward(self, x):
        work.by_torch("torch.nn.Embedding")
        return shapes.embedding(x, self.weight)


class _Conv(_Layer):
    """Convolutions of any number of dimensions."""

    count = 1
    transposed = False

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1,
                 groups=1, bias=True, padding_mode="zeros", device=None, dtype=None):
        super().__init__()
        self._set(in_channels, out_channels, kernel_size, stride, padding, 0, groups, bias, dilation, padding_mode)

    def _set(self, inside, outside, kernel, stride, padding, more, groups, bias, dilation, mode):
        each = lambda value: tuple(shapes.each(value, self.count))
        self.in_channels, self.out_channels, self.groups = inside, outside, groups
        self.kernel_size, self.stride, self.dilation = each(kernel), each(stride), each(dilation)
        self.padding = padding if isinstance(padding, str) else each(padding)
        self.output_padding, self.padding_mode = each(more), mode
        channels = [inside, outside // groups] if self.transposed else [outside, inside // groups]
        if inside % groups or outside % groups:
            raise ValueError("channels must be divisible by groups")
        self.weight = _random(*channels, *self.kernel_size)
        self.register_parameter("bias", _random(outside) if bias else None)

    def forward(self, x, output_size=None):
        _computes(self)
        if self.transposed:
            return shapes.conv_transpose(self.count)(
                x, self.weight, self.bias, self.stride, self.padding, self.output_padding, self.groups, self.dilation)
        return shapes.conv(self.count)(
            x, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)

    def reset_parameters(self):
        return None


class _ConvTranspose(_Conv):
    transposed = True

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0,
                 groups=1, bias=True, dilation=1, padding_mode="zeros", device=None, dtype=None):
        Module.__init__(self)
        self._set(in_channels, out_channels, kernel_size, stride, padding, output_padding, groups, bias,
                  dilation, padding_mode)


class Conv1d(_Conv):
    pass


class Conv2d(_Conv):
    count = 2


class Conv3d(_Conv):
    count = 3


class ConvTranspose1d(_ConvTranspose):
    pass


class ConvTranspose2d(_ConvTranspose):
    count = 2


class ConvTranspose3d(_ConvTranspose):
    count = 3


class _Norm(_Layer):
    """Layers whose result has the shape of what they take."""

    def forward(self, x, *values):
        _computes(self)
        return shapes.same(x)

    def _affine(self, shape, weight, bias=True):
        self.register_parameter("weight", _random(*shape) if weight else None)
        self.register_parameter("bias", _random(*shape) if weight and bias else None)

    def reset_parameters(self):
        return None


class _BatchNorm(_Norm):
    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, **named):
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        self._affine([num_features], affine)
        self.register_buffer("running_mean", _buffer([num_features]) if track_running_stats else None)
        self.register_buffer("running_var", _buffer([num_features]) if track_running_stats else None)
        self.register_buffer("num_batches_tracked", _buffer([], int64) if track_running_stats else None)


class BatchNorm1d(_BatchNorm):
    pass


class BatchNorm2d(_BatchNorm):
    pass


class BatchNorm3d(_BatchNorm):
    pass


class _InstanceNorm(_BatchNorm):
    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=False, track_running_stats=False, **named):
        super().__init__(num_features, eps, momentum, affine, track_running_stats)


class InstanceNorm1d(_InstanceNorm):
    pass


class InstanceNorm2d(_InstanceNorm):
    pass


class InstanceNorm3d(_InstanceNorm):
    pass


class LayerNorm(_Norm):
    def __init__(self, normalized_shape, eps=1e-5, elementwise_affine=True, bias=True, **named):
        super().__init__()
        self.normalized_shape = tuple(shapes.each(normalized_shape, 1))
        self.eps, self.elementwise_affine = eps, elementwise_affine
        self._affine(self.normalized_shape, elementwise_affine, bias)


class RMSNorm(_Norm):
    def __init__(self, normalized_shape, eps=None, elementwise_affine=True, **named):
        super().__init__()
        self.normalized_shape = tuple(shapes.each(normalized_shape, 1))
        self.eps = eps
        self._affine(self.normalized_shape, elementwise_affine, False)


class GroupNorm(_Norm):
    def __init__(self, num_groups, num_channels, eps=1e-5, affine=True, **named):
        super().__init__()
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        self._affine([num_channels], affine)


class _Activation(_Norm):
    """Activations: their arguments are kept by name."""

    names = ()

    def __init__(self, *values, **named):
        super().__init__()
        for name, value in [*zip(self.names, values), *named.items()]:
            setattr(self, name, value)


class Identity(Module):
    def __init__(self, *values, **named):
        super().__init__()

    def forward(self, x):
        return x


class Flatten(Module):
    def __init__(self, start_dim=1, end_dim=-1):
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, x):
        return x.flatten(self.start_dim, self.end_dim)


class PReLU(_Norm):
    def __init__(self, num_parameters=1, init=0.25, **named):
        super().__init__()
        self.weight = _random(num_parameters)


def _activation(name, *names):
    return type(_Norm)(name, (_Activation,), {"names": names, "__module__": __name__})


for _words in """
    ReLU inplace|ReLU6 inplace|LeakyReLU negative_slope inplace|ELU alpha inplace|SELU inplace|CELU alpha
    |GELU approximate|SiLU inplace|Mish inplace|Sigmoid|Tanh|Softplus beta threshold|Softsign|Softmax dim
    |LogSoftmax dim|Softmin dim|Hardtanh min_val max_val inplace|Hardsigmoid inplace|Hardswish inplace
    |Hardshrink lambd|Softshrink lambd|Tanhshrink|LogSigmoid|Threshold threshold value|Dropout p inplace
    |Dropout1d p|Dropout2d p|Dropout3d p|AlphaDropout p|LocalResponseNorm size alpha beta k|Softmax2d
""".replace("\n", " ").split("|"):
    _name, *_names = _words.split()
    globals()[_name] = _activation(_name, *_names)


class _Pool(_Layer):
    """Pools of any number of dimensions."""

    count, shape = 1, None
    names = "kernel_size stride padding dilation return_indices ceil_mode".split()

    def __init__(self, *values, **named):
        super().__init__()
        given = dict(zip(self.names, values)) | named
        self.__dict__.update({"stride": None, "padding": 0, "dilation": 1, "ceil_mode": False} | given)
        if self.stride is None:
            self.stride = given.get("kernel_size")

    def forward(self, x):
        _computes(self)
        if "output_size" in self.__dict__:
            return shapes.adaptive_pool(self.count)(x, self.output_size)
        return shapes.pool(self.count)(
            x, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode,
            self.__dict__.get("return_indices", False))


for _count in (1, 2, 3):
    globals()[f"MaxPool{_count}d"] = type(_Pool)(
        f"MaxPool{_count}d", (_Pool,), {"count": _count, "__module__": __name__})
    globals()[f"AvgPool{_count}d"] = type(_Pool)(
        f"AvgPool{_count}d", (_Pool,), {
            "count": _count, "names": "kernel_size stride padding ceil_mode count_include_pad".split(),
            "__module__": __name__})
    for _kind in ("AdaptiveAvgPool", "AdaptiveMaxPool"):
        globals()[f"{_kind}{_count}d"] = type(_Pool)(
            f"{_kind}{_count}d", (_Pool,), {"count": _count, "names": ["output_size"], "__module__": __name__})


class _Loss(_Layer):
    """Losses: a number for a batch."""

    shape = staticmethod(shapes.loss)

    def __init__(self, *values, reduction="mean", **named):
        super().__init__()
        self.__dict__.update(named)
        self.reduction = reduction

    def forward(self, *values):
        _computes(self)
        return type(self).shape(*values, reduction=self.reduction)


for _name in """
    MSELoss L1Loss SmoothL1Loss HuberLoss KLDivLoss BCELoss BCEWithLogitsLoss HingeEmbeddingLoss
    SoftMarginLoss PoissonNLLLoss
""".split():
    globals()[_name] = type(_Loss)(_name, (_Loss,), {"__module__": __name__})
for _name in ("CrossEntropyLoss", "NLLLoss"):
    globals()[_name] = type(_Loss)(
        _name, (_Loss,), {"shape": staticmethod(shapes.class_loss), "__module__": __name__})
TripletMarginLoss = type(_Loss)(
    "TripletMarginLoss", (_Loss,), {"shape": staticmethod(shapes.triplet_loss), "__module__": __name__})


class CosineSimilarity(_Layer):
    def __init__(self, dim=1, eps=1e-8):
        super().__init__()
        self.dim, self.eps = dim, eps

    def forward(self, a, b):
        work.by_torch("torch.nn.CosineSimilarity")
        return shapes.reduced(a, self.dim)


class Upsample(_Layer):
    def __init__(self, size=None, scale_factor=None, mode="nearest", align_corners=None, **named):
        super().__init__()
        self.size, self.scale_factor, self.mode = size, scale_factor, mode

    def forward(self, x):
        work.by_torch("torch.nn.Upsample")
        return shapes.interpolate(x, self.size, self.scale_factor)


class MultiheadAttention(_Layer):
    def __init__(self, embed_dim, num_heads, dropout=0.0, bias=True, batch_first=False, **named):
        super().__init__()
        self.embed_dim, self.num_heads, self.batch_first = embed_dim, num_heads, batch_first
        self.in_proj_weight = _random(3 * embed_dim, embed_dim)
        self.register_parameter("in_proj_bias", _random(3 * embed_dim) if bias else None)
        self.out_proj = Linear(embed_dim, embed_dim, bias)

    def forward(self, query, key, value, **named):
        work.by_torch("torch.nn.MultiheadAttention")
        return shapes.like(query), None


__all__ = [_name for _name, _value in list(globals().items())
           if isinstance(_value, type) and issubclass(_value, Module) and _name[0] != "_"
           and _name not in ("Module", "Sequential")]
