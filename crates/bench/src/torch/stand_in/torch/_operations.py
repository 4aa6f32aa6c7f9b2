"""The operations of torch that compute, each with the shape of its result."""

import work
from torch import _shapes as shapes
from torch._tensor import Tensor

ELEMENTWISE = """
    abs absolute acos acosh add addcdiv addcmul asin asinh atan atan2 atanh bitwise_and bitwise_not
    bitwise_or bitwise_xor ceil clamp clamp_max clamp_min clip cos cosh deg2rad div divide erf erfc
    erfinv exp exp2 expm1 float_power floor floor_divide fmod frac hypot lerp lgamma log log10 log1p
    log2 logaddexp logit masked_fill maximum minimum mul multiply nan_to_num neg negative pow
    rad2deg reciprocal remainder round rsqrt rsub sigmoid sign sin sinc sinh sqrt square sub
    subtract tan tanh true_divide trunc where xlogy dropout
""".split()
ACTIVATIONS = """
    celu elu gelu glu_ hardshrink hardsigmoid hardswish hardtanh leaky_relu logsigmoid mish prelu
    relu relu6 rrelu selu silu softplus softshrink softsign tanhshrink threshold dropout1d dropout2d
    dropout3d alpha_dropout feature_alpha_dropout
""".split()
SAME = """
    softmax log_softmax softmin gumbel_softmax cumsum cumprod triu tril flip roll normalize
    layer_norm batch_norm group_norm instance_norm rms_norm local_response_norm logcumsumexp
    scatter scatter_add index_add rot90 renorm
""".split()
COMPARISONS = "eq ne lt le gt ge equal_ isnan isinf isfinite logical_and logical_or logical_not logical_xor".split()
REDUCTIONS = "sum mean prod std var logsumexp nansum nanmean amax amin median all any count_nonzero".split()

TABLE = {name: shapes.elementwise for name in ELEMENTWISE + ACTIVATIONS}
TABLE |= {name: shapes.same for name in SAME}
TABLE |= {name: shapes.comparison for name in COMPARISONS}
TABLE |= {name: shapes.reduction for name in REDUCTIONS}
TABLE |= {name: shapes.matmul for name in "matmul mm bmm mv dot inner vdot".split()}
TABLE |= {
    "addmm": lambda c, a, b, **named: shapes.matmul(a, b),
    "baddbmm": lambda c, a, b, **named: shapes.matmul(a, b),
    "argmax": shapes.index_reduction, "argmin": shapes.index_reduction,
    "max": shapes.extreme, "min": shapes.extreme, "norm": shapes.norm,
    "vector_norm": shapes.norm, "einsum": shapes.einsum, "diag": shapes.diag, "cat": shapes.cat,
    "concat": shapes.cat, "stack": shapes.stack, "linear": shapes.linear,
    "embedding": shapes.embedding, "repeat": shapes.repeat, "tile": shapes.repeat,
    "topk": shapes.top, "sort": shapes.ordered, "pad": shapes.pad, "gather": shapes.gather,
    "take_along_dim": lambda x, index, dim: shapes.gather(x, dim, index),
    "index_select": shapes.index_select, "outer": shapes.outer, "ger": shapes.outer,
    "interpolate": shapes.interpolate, "upsample": shapes.interpolate,
    "scaled_dot_product_attention": shapes.attention,
    "cross_entropy": shapes.class_loss, "nll_loss": shapes.class_loss,
    "triplet_margin_loss": shapes.triplet_loss,
    "cosine_similarity": lambda a, b, dim=1, eps=1e-8: shapes.reduced(shapes.elementwise(a, b), dim),
}
TABLE |= {
    f"{name}_loss": shapes.loss
    for name in "mse l1 smooth_l1 huber hinge_embedding soft_margin".split()
}
TABLE |= {
    name: shapes.loss
    for name in "kl_div binary_cross_entropy binary_cross_entropy_with_logits".split()
}
for count in (1, 2, 3):
    TABLE |= {
        f"conv{count}d": shapes.conv(count),
        f"conv_transpose{count}d": shapes.conv_transpose(count),
        f"max_pool{count}d": shapes.pool(count),
        f"avg_pool{count}d": shapes.pool(count),
        f"adaptive_avg_pool{count}d": shapes.adaptive_pool(count),
        f"adaptive_max_pool{count}d": shapes.adaptive_pool(count),
    }


def operation(label, name):
    """The function that stands for an operation under the name that code calls it by."""
    shape = TABLE[name]

    def call(*values, **named):
        work.by_torch(label)
        named = {("x" if key == "input" else key): value for key, value in named.items()}
        for ignored in ("inplace", "out", "training"):
            named.pop(ignored, None)
        if "x" in named:
            values = (named.pop("x"), *values)
        return shape(*values, **named)

    call.__name__ = call.__qualname__ = name
    return call


OPERATORS = {
    "add": "add", "radd": "add", "sub": "sub", "rsub": "sub", "mul": "mul", "rmul": "mul",
    "truediv": "div", "rtruediv": "div", "floordiv": "div", "mod": "remainder", "pow": "pow",
    "rpow": "pow", "matmul": "matmul", "neg": "neg", "abs": "abs", "eq": "eq", "ne": "ne",
    "lt": "lt", "le": "le", "gt": "gt", "ge": "ge", "and": "bitwise_and", "or": "bitwise_or",
    "xor": "bitwise_xor", "invert": "bitwise_not",
}
IN_PLACE = ["add", "sub", "mul", "truediv"]


def _in_place(label):
    def call(tensor, *values, **named):
        if work.phase == "forward":
            work.by_torch(label)
        tensor._storage.unknown()
        return tensor

    return call


def equip():
    """Gives tensors the operations as methods and operators."""
    for name in TABLE:
        if name not in vars(Tensor):
            setattr(Tensor, name, operation(f"Tensor.{name}", name))
    for name, stands_for in OPERATORS.items():
        setattr(Tensor, f"__{name}__", operation(f"tensor {name}", stands_for))
    for name in IN_PLACE:
        setattr(Tensor, f"__i{name}__", _in_place(f"tensor {name}="))
    changing = [*ELEMENTWISE, *ACTIVATIONS, "normal", "uniform", "bernoulli", "random", "exponential",
                "cumsum", "triu", "tril", "scatter_add", "index_add", "index_copy", "scatter"]
    for name in changing:
        if f"{name}_" not in vars(Tensor):
            setattr(Tensor, f"{name}_", _in_place(f"Tensor.{name}_"))
