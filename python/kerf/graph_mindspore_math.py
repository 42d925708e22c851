"""MindSpore's primitives that compute element by element."""

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
for _name, _aten in {"InplaceMul": "mul", "InplaceMuls": "mul", "InplaceDiv": "div", "InplaceDivs": "div"}.items():
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

@rule("AddExt", "AddScalar", "InplaceAddExt", "InplaceAddsExt")
def add_scaled(b, x, y, alpha=1):
    alpha = b.number(alpha)
    return b.binary("add", x, y if alpha == 1 else b.binary("mul", b.value(y), alpha))


@rule("SubExt", "SubScalar", "InplaceSubExt", "InplaceSubScalar")
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
