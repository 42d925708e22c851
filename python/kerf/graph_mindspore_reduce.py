"""MindSpore's primitives that compute over dimensions: reductions, scans, sorting, products."""

import math

from kerf.graph_mindspore_build import rule
from kerf.graph_mindspore_math import truth

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


