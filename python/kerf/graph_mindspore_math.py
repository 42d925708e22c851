"""MindSpore's primitives that compute: element by element, over dimensions, products, scans, sorting."""

import math

from kerf.graph_build import Value
from kerf.graph_mindspore_build import rule

UNARY = {
    "Abs": "abs", "ReLU": "relu", "ReLU6": "relu6", "Sigmoid": "sigmoid", "SiLU": "silu", "Tanh": "tanh", "Exp":
    "exp", "Expm1": "expm1", "Log": "log", "Log1p": "log1p", "Sqrt": "sqrt", "Rsqrt": "rsqrt", "Neg": "neg",
    "Reciprocal": "reciprocal", "Inv": "reciprocal", "Sin": "sin", "Cos": "cos", "Tan": "tan", "Asin": "asin",
    "ACos": "acos", "Atan": "atan", "Sinh": "sinh", "Cosh": "cosh", "Asinh": "asinh", "Acosh": "acosh", "Atanh":
    "atanh", "Floor": "floor", "Ceil": "ceil", "Trunc": "trunc", "Erf": "erf", "Erfc": "erfc", "Erfinv": "erfinv",
    "Sign": "sign", "Invert": "bitwise_not", "HSwish": "hardswish", "HSigmoid": "hardsigmoid", "SeLU": "selu",
    "Mish": "mish", "Lgamma": "lgamma"}
BINARY = {
    "Add": "add", "Sub": "sub", "Mul": "mul", "Muls": "mul", "Div": "div", "Divs": "div", "RealDiv": "div", "Pow":
    "pow", "PowTensorScalar": "pow", "PowScalarTensor": "pow", "Maximum": "maximum", "Minimum": "minimum", "Atan2":
    "atan2", "BitwiseAnd": "bitwise_and", "BitwiseOr": "bitwise_or", "BitwiseXor": "bitwise_xor"}
COMPARISONS = {
    "Equal": "eq", "NotEqual": "ne", "Greater": "gt", "GreaterEqual": "ge", "Less": "lt", "LessEqual": "le",
    "EqScalar": "eq", "GreaterEqualScalar": "ge", "LessScalar": "lt"}


def unary(name):
    return lambda b, x: b.unary(name, x)


def binary(name):
    return lambda b, x, y: b.binary(name, x, y)


def comparison(name):
    def compare(b, x, y):
        return b.binary(name, x, y, b.common(b.operand(x), b.operand(y)), "bool")
    return compare


for _name, _aten in UNARY.items():
    rule(_name)(unary(_aten))
for _name, _aten in BINARY.items():
    rule(_name)(binary(_aten))
for _name, _aten in COMPARISONS.items():
    rule(_name)(comparison(_aten))
for _name, _aten in {"LogicalAnd": "logical_and", "LogicalOr": "logical_or", "LogicalXor": "logical_xor"}.items():
    rule(_name)(lambda b, x, y, name=_aten: b.emit.binary(name, truth(b, x), truth(b, y), "bool"))


def truth(b, x):
    x = b.value(x)
    return x if x.dtype == "bool" else b.emit.binary("ne", x, 0, x.dtype, "bool")


@rule("LogicalNot")
def logical_not(b, x):
    x = truth(b, x)
    return b.emit.node("logical_not.default", {"self": x}, ("bool", x.shape))


def question(name):
    def ask(b, x):
        x = b.value(x)
        return b.emit.node(f"{name}.default", {"self": x}, ("bool", x.shape))
    return ask


for _name, _aten in {"IsNan": "isnan", "IsInf": "isinf", "IsFinite": "isfinite"}.items():
    rule(_name)(question(_aten))


# Sums of pieces.

@rule("AddExt", "AddScalar")
def add_scaled(b, x, y, alpha=1):
    alpha = b.number(alpha)
    return b.binary("add", x, y if alpha == 1 else b.binary("mul", b.value(y), alpha))


@rule("SubExt", "SubScalar")
def sub_scaled(b, x, y, alpha=1):
    alpha = b.number(alpha)
    return b.binary("sub", x, y if alpha == 1 else b.binary("mul", b.value(y), alpha))


@rule("AddN")
def add_all(b, items):
    total = b.value(items[0])
    for one in items[1:]:
        total = b.binary("add", total, one)
    return total


@rule("Square")
def square(b, x):
    return b.binary("mul", x, x)


@rule("SquaredDifference")
def squared_difference(b, x, y):
    return square(b, b.binary("sub", x, y))


@rule("Lerp")
def lerp(b, x, end, weight):
    return b.binary("add", x, b.binary("mul", b.binary("sub", end, x), weight))


@rule("Addcmul")
def addcmul(b, x, y, z, value=1):
    return b.binary("add", x, b.binary("mul", b.binary("mul", y, z), value))


@rule("Addcdiv")
def addcdiv(b, x, y, z, value=1):
    return b.binary("add", x, b.binary("mul", b.binary("div", y, z), value))


@rule("Hypot")
def hypot(b, x, y):
    return b.unary("sqrt", b.binary("add", square(b, x), square(b, y)))


@rule("Xlogy", "XLogYScalarOther")
def xlogy(b, x, y):
    product = b.binary("mul", x, b.unary("log", b.value(y, b.dtype)))
    zero = b.binary("eq", b.value(x, b.dtype), 0, b.dtype, "bool")
    return b.emit.where(zero, 0.0, product, b.dtype)


# Division with a remainder.

@rule("FloorDiv")
def floor_div(b, x, y):
    if not b.dtype.startswith(("float", "bfloat")):
        return b.binary("div", x, y, rounding_mode="floor")
    return b.unary("floor", b.binary("div", x, y))


@rule("DivMod", "DivMods")
def div_mode(b, x, y, mode=None):
    if mode is None:
        return b.binary("div", x, y)
    if mode == 2:
        return floor_div(b, x, y)
    if not b.dtype.startswith(("float", "bfloat")):
        return b.binary("div", x, y, rounding_mode="trunc")
    return b.unary("trunc", b.binary("div", x, y))


@rule("FloorMod", "RemainderTensorTensor", "RemainderTensorScalar", "RemainderScalarTensor")
def remainder(b, x, y):
    return b.binary("remainder", x, y)


@rule("FmodTensor", "FmodScalar", "Mod")
def fmod(b, x, y):
    return b.binary("fmod", x, y)


# Choosing.

@rule("Select")
def select(b, condition, x, y):
    x, y = [one if isinstance(one, Value) else b.as_type(one, b.dtype) for one in (b.operand(x), b.operand(y))]
    return b.emit.where(b.value(condition), x, y, b.dtype)


@rule("MaskedFill", "MaskedFillScalar")
def masked_fill(b, x, mask, value):
    return select(b, mask, value, x)


@rule("ClampScalar", "ClampTensor")
def clamp(b, x, low=None, high=None):
    for name, bound in (("maximum", low), ("minimum", high)):
        if bound is not None:
            x = b.binary(name, x, bound)
    return x


@rule("Cast")
def cast(b, x, *_):
    return b.emit.cast(b.value(x), b.dtype)


@rule("NanToNum")
def nan_to_num(b, x, nan=None, posinf=None, neginf=None):
    return with_numbers("nan_to_num", nan=nan, posinf=posinf, neginf=neginf)(b, x)


# Activations.

def with_numbers(name, **numbers):
    def make(b, x, *_):
        x = b.value(x, b.dtype)
        args = {key: None if given is None else float(b.number(given)) for key, given in numbers.items()}
        return b.emit.node(f"{name}.default", {"self": x, **args}, (b.dtype, x.shape))
    return make


@rule("GeLU")
def gelu(b, x):
    """The approximation; the exact one MindSpore writes with Erf."""
    x = b.value(x, b.dtype)
    return b.emit.node("gelu.default", {"self": x, "approximate": "tanh"}, (b.dtype, x.shape))


@rule("Elu")
def elu(b, x, alpha=1.0):
    return with_numbers("elu", alpha=alpha, scale=1.0, input_scale=1.0)(b, x)


@rule("CeLU")
def celu(b, x, alpha=1.0):
    return with_numbers("celu", alpha=alpha)(b, x)


@rule("HShrink")
def hard_shrink(b, x, lambd=0.5):
    return with_numbers("hardshrink", lambd=lambd)(b, x)


@rule("SoftShrink")
def soft_shrink(b, x, lambd=0.5):
    return with_numbers("softshrink", lambd=lambd)(b, x)


@rule("Softplus", "SoftplusExt")
def softplus(b, x, beta=1.0, limit=20.0):
    return with_numbers("softplus", beta=beta, threshold=limit)(b, x)


@rule("Logit")
def logit(b, x, eps=-1.0):
    eps = b.number(eps)
    return with_numbers("logit", eps=None if eps < 0 else eps)(b, x)


@rule("Softsign")
def softsign(b, x):
    return b.binary("div", x, b.binary("add", b.unary("abs", x), 1.0))


@rule("PReLU")
def prelu(b, x, weight):
    x, weight = b.value(x), b.value(weight)
    if len(x.shape) > 1 and weight.shape != [1]:
        weight = b.emit.view(weight, [1, -1 if not weight.shape else weight.shape[0]] + [1] * (len(x.shape) - 2))
    positive = b.binary("gt", x, 0, x.dtype, "bool")
    return b.emit.where(positive, x, b.binary("mul", x, weight), b.dtype)


def halves(b, x, axis):
    x = b.value(x)
    axis %= len(x.shape)
    half = x.shape[axis] // 2
    return b.emit.slice(x, axis, 0, half), b.emit.slice(x, axis, half, 2 * half)


@rule("GLU")
def glu(b, x, axis=-1):
    left, right = halves(b, x, b.attribute("axis", axis))
    return b.binary("mul", left, b.unary("sigmoid", right))


@rule("Round")
def round_to(b, x, decimals=0):
    x = b.value(x, b.dtype)
    if b.number(decimals) == 0:
        return b.unary("round", x)
    return b.emit.node("round.decimals", {"self": x, "decimals": b.number(decimals)}, (b.dtype, x.shape))


# Over dimensions.

def softmax_of(name):
    def make(b, x, axis=-1, *_):
        x = b.value(x, b.dtype)
        axes = b.ints(axis)
        if len(axes) != 1:
            raise b.refused(f" over the axes {axes} cannot be captured")
        args = {"self": x, "dim": axes[0] % max(1, len(x.shape)), "half_to_float": False}
        return b.emit.node(f"{name}.default", args, (b.dtype, x.shape))
    return make


rule("Softmax")(softmax_of("_softmax"))
rule("LogSoftmax")(softmax_of("_log_softmax"))


def reduction(op, **more):
    def make(b, x, axis=None, keep=False, *_):
        x = b.value(x, b.dtype)
        return b.emit.reduce(op, x, b.dims(x, axis), keep, b.dtype, **more)
    return make


rule("ReduceSum", "SumExt")(reduction("sum.dim_IntList", dtype=None))
rule("ReduceMean", "MeanExt")(reduction("mean.dim", dtype=None))
rule("ReduceMax", "Max")(reduction("amax.default"))
rule("ReduceMin", "Min")(reduction("amin.default"))


def truth_reduction(op):
    def make(b, x, axis=None, keep=False):
        x = truth(b, x)
        return b.emit.reduce(op, x, b.dims(x, axis), keep, "bool")
    return make


rule("ReduceAny")(truth_reduction("any.dims"))
rule("ReduceAll")(truth_reduction("all.dims"))


@rule("ReduceProd", "ProdExt")
def product_of(b, x, axis=None, keep=False, *_):
    x = b.value(x, b.dtype)
    for dim in reversed(b.dims(x, axis)):
        shape = x.shape[:dim] + x.shape[dim + 1:]
        x = b.emit.node("prod.dim_int", {"self": x, "dim": dim, "keepdim": False, "dtype": None}, (x.dtype, shape))
    return b.emit.view(x, b.spec.shape)


def place_of(name):
    """The index of the extreme, in the type MindSpore gives it."""
    def make(b, x, axis=-1, *_):
        x = b.value(x)
        args = {"self": x, "dim": b.number(axis) % max(1, len(x.shape)), "keepdim": False}
        place = b.emit.node(f"{name}.default", args, ("int64", b.spec.shape))
        return b.emit.cast(place, b.dtype)
    return make


rule("Argmax")(place_of("argmax"))
rule("Argmin")(place_of("argmin"))


def extreme(name, place_first):
    def make(b, x, axis=0, keep=False):
        x, dim = b.value(x), b.number(axis)
        dim %= max(1, len(x.shape))
        place_spec, value_spec = b.node.result if place_first else reversed(b.node.result)
        found, place = b.emit.node(f"{name}.dim", {"self": x, "dim": dim, "keepdim": bool(keep)},
                                   (value_spec.dtype, value_spec.shape), ("int64", value_spec.shape))
        place = b.emit.cast(place, place_spec.dtype)
        return [place, found] if place_first else [found, place]
    return make


rule("ArgMaxWithValue")(extreme("max", True))
rule("ArgMinWithValue")(extreme("min", True))
rule("MaxDim")(extreme("max", False))
rule("MinDim")(extreme("min", False))


@rule("ReduceStd")
def reduce_std(b, x, axis=None, unbiased=True, keep=False):
    """[standard deviation, mean]."""
    x = b.value(x, b.dtype)
    dims = b.dims(x, axis)
    variance = b.emit.reduce("var.correction", x, dims, keep, b.dtype, correction=int(unbiased))
    return [b.unary("sqrt", variance), b.emit.reduce("mean.dim", x, dims, keep, b.dtype, dtype=None)]


def vector_norm(b, x, order, axis, keep):
    x = b.value(x, b.dtype)
    dims = b.dims(x, axis)

    def total(value):
        return b.emit.reduce("sum.dim_IntList", value, dims, keep, b.dtype, dtype=None)

    if order == 2:
        return b.unary("sqrt", total(b.binary("mul", x, x)))
    size = b.unary("abs", x)
    if order in (math.inf, -math.inf):
        return b.emit.reduce("amax.default" if order > 0 else "amin.default", size, dims, keep, b.dtype)
    if order == 1:
        return total(size)
    if order == 0:
        return total(b.emit.cast(b.binary("ne", x, 0, x.dtype, "bool"), b.dtype))
    return b.binary("pow", total(b.binary("pow", size, float(order))), 1.0 / order)


@rule("LpNorm")
def lp_norm(b, x):
    return vector_norm(b, x, b.attribute("p", 2), b.attribute("axis"), b.attribute("keep_dims", False))


@rule("L2Normalize")
def l2_normalize(b, x):
    """Divided by the length, but by no less than the root of epsilon."""
    x = b.value(x, b.dtype)
    dims = b.dims(x, b.attribute("axis"))
    total = b.emit.reduce("sum.dim_IntList", b.binary("mul", x, x), dims, True, b.dtype, dtype=None)
    return b.binary("div", x, b.unary("sqrt", b.binary("maximum", total, b.attribute("epsilon", 1e-4))))


# Scans and sorting.

def scan(name, neutral):
    def make(b, x, axis, exclusive=False, reverse=False):
        x, axis = b.value(x, b.dtype), b.ints(axis)[0]
        axis %= max(1, len(x.shape))
        if reverse:
            x = b.emit.flip(x, [axis])
        done = b.emit.node(f"{name}.default", {"self": x, "dim": axis, "dtype": None}, (x.dtype, x.shape))
        if exclusive:
            edge = b.emit.full(x.shape[:axis] + [1] + x.shape[axis + 1:], b.as_type(neutral, x.dtype), x.dtype)
            done = b.emit.cat([edge, b.emit.slice(done, axis, 0, x.shape[axis] - 1)], axis, x.dtype)
        return b.emit.flip(done, [axis]) if reverse else done
    return make


rule("CumSum")(scan("cumsum", 0))
rule("CumProd")(scan("cumprod", 1))


def sorted_pair(b, x, op, args):
    x = b.value(x)
    found_spec, place_spec = b.node.result
    found, place = b.emit.node(op, {"self": x, **args}, (x.dtype, found_spec.shape), ("int64", place_spec.shape))
    return [found, b.emit.cast(place, place_spec.dtype)]


@rule("TopK")
def topk(b, x, k):
    args = {"k": b.number(k), "dim": len(b.value(x).shape) - 1, "largest": True, "sorted": True}
    return sorted_pair(b, x, "topk.default", args)


@rule("Sort")
def sort(b, x):
    axis = b.attribute("axis", -1) % max(1, len(b.value(x).shape))
    return sorted_pair(b, x, "sort.default", {"dim": axis, "descending": bool(b.attribute("descending"))})


def running_extreme(name):
    """[values, their places]; the places only where nobody uses them."""
    def make(b, x, axis):
        x = b.value(x)
        axis = b.number(axis) % max(1, len(x.shape))
        found, place = b.emit.node(f"{name}.default", {"self": x, "dim": axis}, (x.dtype, x.shape), ("int64", x.shape))
        return [found, b.emit.cast(place, b.node.result[1].dtype)]
    return make


rule("Cummax")(running_extreme("cummax"))
rule("Cummin")(running_extreme("cummin"))


@rule("CumulativeLogsumexp")
def log_cumulative_sum(b, x, axis):
    if b.attribute("exclusive") or b.attribute("reverse"):
        raise b.refused(" that is exclusive or reversed cannot be captured")
    x = b.value(x)
    args = {"self": x, "dim": b.ints(axis)[0] % max(1, len(x.shape))}
    return b.emit.node("logcumsumexp.default", args, (x.dtype, x.shape))


# Products.

def turned(b, x):
    rank = len(x.shape)
    return b.emit.permute(x, [*range(rank - 2), rank - 1, rank - 2])


@rule("MatMul", "BatchMatMul", "MatMulExt", "BatchMatMulExt")
def matmul(b, x, y, turn_x=False, turn_y=False):
    x, y = b.value(x), b.value(y)
    return b.emit.matmul(turned(b, x) if turn_x else x, turned(b, y) if turn_y else y, b.dtype)


@rule("Dense")
def dense(b, x, weight, bias=None):
    weight = b.value(weight)
    found = b.emit.matmul(b.value(x), turned(b, weight) if len(weight.shape) > 1 else weight, b.dtype)
    return found if bias is None else b.binary("add", found, bias)


@rule("BiasAdd")
def bias_add(b, x, bias, layout=0):
    x, bias = b.value(x), b.value(bias)
    if layout not in (0, "NCHW", 3, "NCDHW") and len(x.shape) > 2:
        raise b.refused(f" with the layout {layout} cannot be captured")
    return b.binary("add", x, b.emit.view(bias, bias.shape + [1] * (len(x.shape) - 2)))


