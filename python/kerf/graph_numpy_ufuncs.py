"""numpy's ufuncs as ATen operations: one function for each, from values to a value.

Each takes (emit, operands, dtype, common): the operands are values or numbers, `dtype` is the result's as numpy has
it, `common` the type the operands promote to.
"""

import math

from kerf.graph_build import Value


def unary(name):
    return lambda emit, x, dtype, common: emit.unary(name, x[0], dtype)


def binary(name, **more):
    return lambda emit, x, dtype, common: emit.binary(name, x[0], x[1], dtype, **more)


def comparison(name):
    return lambda emit, x, dtype, common: emit.binary(name, x[0], x[1], common, "bool")


def truth(emit, operand):
    """Whether it is not zero."""
    if not isinstance(operand, Value):
        return emit.full([], bool(operand), "bool")
    return operand if operand.dtype == "bool" else emit.binary("ne", operand, 0, operand.dtype, "bool")


def logical(name):
    return lambda emit, x, dtype, common: emit.binary(name, truth(emit, x[0]), truth(emit, x[1]), "bool")


def logical_not(emit, x, dtype, common):
    return emit.node("logical_not.default", {"self": truth(emit, x[0])}, ("bool", x[0].shape))


def bitwise_not(emit, x, dtype, common):
    if dtype == "bool":
        return logical_not(emit, x, dtype, common)
    return emit.unary("bitwise_not", x[0], dtype)


def question(name):
    """isnan, isinf: of a number of any type."""
    def ask(emit, x, dtype, common):
        return emit.node(f"{name}.default", {"self": x[0]}, ("bool", x[0].shape))
    return ask


def is_finite(emit, x, dtype, common):
    either = emit.binary("logical_or", question("isnan")(emit, x, dtype, common),
                         question("isinf")(emit, x, dtype, common), "bool")
    return emit.node("logical_not.default", {"self": either}, ("bool", x[0].shape))


def square(emit, x, dtype, common):
    return emit.binary("mul", x[0], x[0], dtype)


def scaled(factor):
    return lambda emit, x, dtype, common: emit.binary("mul", x[0], factor, dtype)


def power(emit, x, dtype, common):
    return emit.binary("pow", x[0], x[1], dtype)


def prefer_number(name):
    """fmax, fmin: the other one where one is not a number."""
    def choose(emit, x, dtype, common):
        left, right = [emit.cast(one, dtype) if isinstance(one, Value) else emit.full([], one, dtype) for one in x]
        best = emit.binary(name, left, right, dtype)
        for one, other in ((left, right), (right, left)):
            unknown = emit.node("isnan.default", {"self": one}, ("bool", one.shape))
            best = emit.where(unknown, other, best, dtype)
        return best
    return choose


def log_add_exp(emit, x, dtype, common):
    """max + log1p(exp(-|a - b|)), and the maximum where the difference means nothing."""
    left, right = [emit.cast(one, dtype) if isinstance(one, Value) else emit.full([], one, dtype) for one in x]
    most = emit.binary("maximum", left, right, dtype)
    apart = emit.unary("abs", emit.binary("sub", left, right, dtype), dtype)
    total = emit.binary("add", most, emit.unary("log1p", emit.unary("exp", emit.unary("neg", apart, dtype), dtype),
                                                dtype), dtype)
    endless = emit.node("isinf.default", {"self": most}, ("bool", most.shape))
    return emit.where(endless, most, total, dtype)


def log_add_exp2(emit, x, dtype, common):
    """The same with powers of two."""
    left, right = [emit.binary("mul", one, math.log(2), dtype) for one in as_values(emit, x, dtype)]
    return emit.binary("div", log_add_exp(emit, [left, right], dtype, common), math.log(2), dtype)


def hypot(emit, x, dtype, common):
    squares = [emit.binary("mul", one, one, dtype) if isinstance(one, Value) else one * one for one in x]
    return emit.unary("sqrt", emit.binary("add", *squares, dtype), dtype)


def as_values(emit, x, dtype):
    return [emit.cast(one, dtype) if isinstance(one, Value) else emit.full([], one, dtype) for one in x]


def heaviside(emit, x, dtype, common):
    value, middle = as_values(emit, x, dtype)
    step = emit.cast(emit.binary("gt", value, 0, dtype, "bool"), dtype)
    step = emit.where(emit.binary("eq", value, 0, dtype, "bool"), middle, step, dtype)
    return emit.where(emit.node("isnan.default", {"self": value}, ("bool", value.shape)), value, step, dtype)


def copysign(emit, x, dtype, common):
    size, sign = as_values(emit, x, dtype)
    size = emit.unary("abs", size, dtype)
    negative = emit.node("signbit.default", {"self": sign}, ("bool", sign.shape))
    return emit.where(negative, emit.unary("neg", size, dtype), size, dtype)


def cube_root(emit, x, dtype, common):
    value = emit.cast(x[0], dtype)
    root = emit.binary("pow", emit.unary("abs", value, dtype), 1.0 / 3.0, dtype)
    negative = emit.binary("lt", value, 0, dtype, "bool")
    return emit.where(negative, emit.unary("neg", root, dtype), root, dtype)


def shift(name):
    def shifted(emit, x, dtype, common):
        left, right = as_values(emit, x, dtype)
        return emit.binary(f"bitwise_{name}_shift", left, right, dtype)
    return shifted


def clip(emit, x, dtype, common):
    value = x[0]
    for name, bound in (("maximum", x[1]), ("minimum", x[2])):
        if bound is not None:
            value = emit.binary(name, value, bound, dtype)
    return value


def matmul(emit, x, dtype, common):
    return emit.matmul(x[0], x[1], dtype)


UFUNCS = {
    "add": binary("add"), "subtract": binary("sub"), "multiply": binary("mul"), "divide": binary("div"),
    "true_divide": binary("div"), "floor_divide": binary("div", rounding_mode="floor"), "remainder": binary("remainder"),
    "mod": binary("remainder"), "fmod": binary("fmod"), "power": power, "float_power": power,
    "maximum": binary("maximum"), "minimum": binary("minimum"), "arctan2": binary("atan2"),
    "fmax": prefer_number("maximum"), "fmin": prefer_number("minimum"), "logaddexp": log_add_exp,
    "logaddexp2": log_add_exp2, "hypot": hypot,
    "equal": comparison("eq"), "not_equal": comparison("ne"), "less": comparison("lt"), "less_equal": comparison("le"),
    "greater": comparison("gt"), "greater_equal": comparison("ge"),
    "logical_and": logical("logical_and"), "logical_or": logical("logical_or"), "logical_xor": logical("logical_xor"),
    "logical_not": logical_not, "bitwise_and": binary("bitwise_and"), "bitwise_or": binary("bitwise_or"),
    "bitwise_xor": binary("bitwise_xor"), "invert": bitwise_not, "bitwise_not": bitwise_not,
    "isnan": question("isnan"), "isinf": question("isinf"), "isfinite": is_finite,
    "negative": unary("neg"), "positive": lambda emit, x, dtype, common: emit.cast(x[0], dtype),
    "absolute": unary("abs"), "fabs": unary("abs"), "sign": unary("sign"), "rint": unary("round"),
    "heaviside": heaviside, "copysign": copysign, "cbrt": cube_root, "left_shift": shift("left"),
    "right_shift": shift("right"), "signbit": question("signbit"),
    "conjugate": lambda emit, x, dtype, common: x[0],
    "arcsin": unary("asin"), "arccos": unary("acos"), "arctan": unary("atan"), "arcsinh": unary("asinh"),
    "arccosh": unary("acosh"), "arctanh": unary("atanh"), "square": square,
    "degrees": scaled(180 / math.pi), "rad2deg": scaled(180 / math.pi), "radians": scaled(math.pi / 180),
    "deg2rad": scaled(math.pi / 180), "clip": clip, "matmul": matmul,
    "exp2": lambda emit, x, dtype, common: emit.binary("pow", 2.0, x[0], dtype),
    **{name: unary(name) for name in ("exp", "expm1", "log", "log2", "log10", "log1p", "sqrt", "reciprocal", "sin",
                                      "cos", "tan", "sinh", "cosh", "tanh", "floor", "ceil", "trunc")},
}

# ufunc.reduce and ufunc.accumulate by the functions that do the same.
REDUCE = {"add": "sum", "multiply": "prod", "maximum": "amax", "minimum": "amin", "logical_and": "all",
          "logical_or": "any"}
ACCUMULATE = {"add": "cumsum", "multiply": "cumprod", "maximum": "cummax", "minimum": "cummin"}
