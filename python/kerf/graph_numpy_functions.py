"""numpy's functions over traced arrays."""

import math

import numpy

from kerf import graph_numpy_views as views
from kerf.graph_build import DTYPES, Value
from kerf.graph_numpy_einsum import einsum_value

TABLE = {}


def function(*names):
    def add(handler):
        TABLE.update((name, handler) for name in names)
        return handler
    return add


def traced(given):
    from kerf.graph_numpy_array import traced_in
    return traced_in(given)


def plain(given):
    from kerf.graph_numpy_array import plain as take
    return take(given)


def dispatch(tracer, func, args, kwargs):
    module = func.__module__.replace("numpy.", "", 1) if func.__module__.startswith("numpy.linalg") else ""
    name = f"{module}.{func.__name__}" if module else func.__name__
    if name in TABLE:
        return call(tracer, name, args, kwargs)
    return unknown(tracer, f"numpy.{name}", lambda: func(*plain(args), **plain(kwargs)), [args, kwargs])


def unknown(tracer, name, compute, given):
    """An operation kerf has no words for is computed where no input has a part in it."""
    if all(one.known for one in traced(given)):
        result = compute()
        return tracer.constant(numpy.asarray(result).copy()) if isinstance(
            result, (numpy.ndarray, numpy.generic)) else result
    raise tracer.emit.refused("an operation", f"{name} cannot be captured")


def call(tracer, name, args, kwargs):
    kwargs = {key: item for key, item in kwargs.items() if item is not None or key == "axis"}
    out, where = kwargs.pop("out", None), kwargs.pop("where", True)
    initial = kwargs.pop("initial", numpy._NoValue)
    if where is not True and where is not numpy._NoValue:
        args = (only_where(tracer, name, args[0], where), *args[1:])
    try:
        result = TABLE[name](tracer, *args, **kwargs)
    except TypeError as error:
        if "argument" in str(error):
            raise tracer.emit.refused("an operation", f"numpy.{name} as it is called here: {error}") from error
        raise
    if initial is not numpy._NoValue:
        if name not in WITH_INITIAL:
            raise tracer.emit.refused("an operation", f"numpy.{name} with initial= cannot be captured")
        result = WITH_INITIAL[name](result, result.dtype.type(initial))
    return result if out is None else (out[0] if isinstance(out, tuple) else out)._update(result)


# What changes nothing in a sum, a product …
NEUTRAL = {"sum": 0, "prod": 1, "any": False, "all": True}
WITH_INITIAL = {"sum": numpy.add, "prod": numpy.multiply, "amax": numpy.maximum, "max": numpy.maximum,
                "amin": numpy.minimum, "min": numpy.minimum}


def only_where(tracer, name, array, where):
    if name not in NEUTRAL:
        raise tracer.emit.refused("an operation", f"numpy.{name} with where= cannot be captured")
    x = tracer.wrap(array)
    return numpy.where(tracer.wrap(where), x, x.dtype.type(NEUTRAL[name]))


def made(tracer, compute, value, *sources):
    """The traced array of `value`; numpy computes it too, and says its shape and type."""
    with numpy.errstate(all="ignore"):
        data = numpy.asarray(compute())
    return tracer.new(value, data, sources)


# Reductions.

def dims_of(x, axis):
    if axis is None:
        return list(range(x.ndim))
    return [axis % max(1, x.ndim)] if isinstance(axis, (int, numpy.integer)) else [int(one) % x.ndim for one in axis]


def reduction(name, op, numpy_function, widen=False):
    def handler(tracer, a, axis=None, dtype=None, keepdims=False):
        x = tracer.wrap(a)
        keepdims = bool(keepdims) if keepdims is not numpy._NoValue else False
        options = {"dtype": dtype} if dtype is not None else {}
        axis = tuple(int(one) for one in axis) if isinstance(axis, list) else axis
        with numpy.errstate(all="ignore"):
            data = numpy.asarray(numpy_function(x.data, axis=axis, keepdims=keepdims, **options))
        emit, result = tracer.emit, data.dtype.name
        value = emit.cast(x.value, result)
        more = {"dtype": None} if widen else {}
        return tracer.new(emit.reduce(op, value, dims_of(x, axis), keepdims, result, **more), data, [x])
    TABLE[name] = handler


reduction("sum", "sum.dim_IntList", numpy.sum, widen=True)
reduction("mean", "mean.dim", numpy.mean, widen=True)
for _alias in ("amax", "max"):
    reduction(_alias, "amax.default", numpy.amax)
for _alias in ("amin", "min"):
    reduction(_alias, "amin.default", numpy.amin)


@function("prod")
def prod(tracer, a, axis=None, dtype=None, keepdims=False):
    x = tracer.wrap(a)
    options = {"dtype": dtype} if dtype is not None else {}
    data = numpy.asarray(numpy.prod(x.data, axis=axis, keepdims=bool(keepdims), **options))
    emit, value = tracer.emit, tracer.emit.cast(x.value, data.dtype.name)
    for dim in sorted(dims_of(x, axis), reverse=True):
        shape = value.shape[:dim] + value.shape[dim + 1:]
        value = emit.node("prod.dim_int", {"self": value, "dim": dim, "keepdim": False, "dtype": None},
                          (value.dtype, shape))
    return tracer.new(emit.view(value, data.shape), data, [x])


@function("var")
def var(tracer, a, axis=None, dtype=None, ddof=0, keepdims=False, correction=None):
    x = tracer.wrap(a)
    ddof = correction if correction is not None else ddof
    options = {"dtype": dtype} if dtype is not None else {}
    data = numpy.asarray(numpy.var(x.data, axis=axis, ddof=ddof, keepdims=bool(keepdims), **options))
    value = tracer.emit.cast(x.value, data.dtype.name)
    return tracer.new(tracer.emit.reduce("var.correction", value, dims_of(x, axis), bool(keepdims), data.dtype.name,
                                         correction=ddof), data, [x])


@function("std")
def std(tracer, a, *args, **options):
    return numpy.sqrt(var(tracer, a, *args, **options))


@function("ptp")
def ptp(tracer, a, axis=None, keepdims=False):
    return call(tracer, "amax", (a,), {"axis": axis, "keepdims": keepdims}) - call(
        tracer, "amin", (a,), {"axis": axis, "keepdims": keepdims})


def truth_reduction(name):
    def handler(tracer, a, axis=None, keepdims=False):
        x = tracer.wrap(a)
        keepdims = bool(keepdims) if keepdims is not numpy._NoValue else False
        value = x.value if x.value.dtype == "bool" else tracer.emit.binary("ne", x.value, 0, x.value.dtype, "bool")
        return made(tracer, lambda: getattr(numpy, name)(x.data, axis=axis, keepdims=keepdims), tracer.emit.reduce(
            f"{name}.dims", value, dims_of(x, axis), keepdims, "bool"), x)
    TABLE[name] = handler


truth_reduction("any")
truth_reduction("all")


@function("count_nonzero")
def count_nonzero(tracer, a, axis=None, keepdims=False):
    return call(tracer, "sum", (tracer.wrap(a) != 0,), {"axis": axis, "keepdims": keepdims})


def place_of_extreme(name):
    def handler(tracer, a, axis=None, keepdims=False):
        x = tracer.wrap(a)
        keepdims = bool(keepdims) if keepdims is not numpy._NoValue else False
        data = numpy.asarray(getattr(numpy, name)(x.data, axis=axis, keepdims=keepdims))
        dim = None if axis is None else axis % x.ndim
        return tracer.new(tracer.emit.node(f"{name}.default", {"self": x.value, "dim": dim, "keepdim": keepdims},
                                           ("int64", list(data.shape))), data, [x])
    TABLE[name] = handler


place_of_extreme("argmax")
place_of_extreme("argmin")


def scan(name):
    def handler(tracer, a, axis=None, dtype=None):
        x = tracer.wrap(a)
        if axis is None:
            x, axis = x.ravel(), 0
        options = {"dtype": dtype} if dtype is not None else {}
        data = getattr(numpy, name)(x.data, axis=axis, **options)
        value = tracer.emit.cast(x.value, data.dtype.name)
        return tracer.new(tracer.emit.node(f"{name}.default", {"self": value, "dim": axis % x.ndim, "dtype": None},
                                           (value.dtype, value.shape)), data, [x])
    TABLE[name] = handler


scan("cumsum")
scan("cumprod")


def running_extreme(ufunc, op):
    """maximum.accumulate and minimum.accumulate."""
    def handler(tracer, a, axis=0, dtype=None):
        x = tracer.wrap(a)
        values, _ = tracer.emit.node(f"{op}.default", {"self": x.value, "dim": axis % x.ndim},
                                     (x.value.dtype, x.value.shape), ("int64", x.value.shape))
        return made(tracer, lambda: ufunc.accumulate(x.data, axis=axis), values, x)
    TABLE[op] = handler


running_extreme(numpy.maximum, "cummax")
running_extreme(numpy.minimum, "cummin")


@function("linalg.norm")
def norm(tracer, x, ord=None, axis=None, keepdims=False):
    x = tracer.wrap(x)
    matrix = ord is not None and (len(axis) == 2 if isinstance(axis, tuple) else axis is None and x.ndim == 2)
    if matrix and ord != "fro":
        return matrix_norm(tracer, x, ord, axis, keepdims)
    options = {"axis": axis, "keepdims": keepdims}
    if x.dtype.kind != "f":
        x = x.astype(numpy.float64)
    if ord in (None, 2, "fro"):
        return numpy.sqrt(call(tracer, "sum", (x * x,), options))
    if ord in (math.inf, -math.inf):
        return call(tracer, "amax" if ord > 0 else "amin", (abs(x),), options)
    if ord == 1:
        return call(tracer, "sum", (abs(x),), options)
    if ord == 0:
        return call(tracer, "sum", ((x != 0).astype(x.dtype),), options)
    return call(tracer, "sum", (abs(x) ** ord,), options) ** (1.0 / ord)


def matrix_norm(tracer, x, ord, axis, keepdims):
    """The largest or smallest sum of a column, or of a row."""
    if ord not in (1, -1, math.inf, -math.inf):
        raise tracer.emit.refused("an operation", f"numpy.linalg.norm of a matrix with ord={ord!r} cannot be captured")
    rows, columns = (one % x.ndim for one in (axis if axis is not None else (0, 1)))
    summed, other = (rows, columns) if abs(ord) == 1 else (columns, rows)
    sums = call(tracer, "sum", (abs(x),), {"axis": summed, "keepdims": True})
    best = call(tracer, "amax" if ord > 0 else "amin", (sums,), {"axis": other, "keepdims": True})
    return best if keepdims else best.reshape([size for dim, size in enumerate(x.shape) if dim not in (rows, columns)])


# Shapes.

def view(x, step, data):
    return x.view_of([step], data)


@function("reshape")
def reshape(tracer, a, *shape, order="C", newshape=None):
    x = tracer.wrap(a)
    if order not in ("C", None):
        raise tracer.emit.refused("an operation", f"reshape with order={order!r} cannot be captured")
    shape = newshape if newshape is not None else shape[0] if len(shape) == 1 else shape
    data = x.data.reshape(plain(shape))
    if numpy.may_share_memory(data, x.data):
        return view(x, views.Reshape(data.shape), data)
    return tracer.new(tracer.emit.view(x.value, data.shape), data, [x])


@function("ravel")
def ravel(tracer, a, order="C"):
    return reshape(tracer, a, -1, order=order)


@function("flatten")
def flatten(tracer, a, order="C"):
    return copy(tracer, reshape(tracer, a, -1, order=order))


@function("squeeze")
def squeeze(tracer, a, axis=None):
    x = tracer.wrap(a)
    data = x.data.squeeze(axis)
    return view(x, views.Reshape(data.shape), data)


@function("expand_dims")
def expand_dims(tracer, a, axis):
    x = tracer.wrap(a)
    data = numpy.expand_dims(x.data, axis)
    return view(x, views.Reshape(data.shape), data)


@function("transpose", "permute_dims")
def transpose(tracer, a, *axes):
    x = tracer.wrap(a)
    axes = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
    axes = [int(axis) % x.ndim for axis in axes] if axes else list(range(x.ndim))[::-1]
    return view(x, views.Permute(axes), x.data.transpose(axes))


@function("swapaxes")
def swapaxes(tracer, a, axis1, axis2):
    x = tracer.wrap(a)
    axes = list(range(x.ndim))
    axes[axis1], axes[axis2] = axes[axis2], axes[axis1]
    return transpose(tracer, x, axes)


@function("moveaxis")
def moveaxis(tracer, a, source, destination):
    x = tracer.wrap(a)
    order = numpy.moveaxis(numpy.empty(range(1, x.ndim + 1)), source, destination).shape
    return transpose(tracer, x, [size - 1 for size in order])


@function("broadcast_to")
def broadcast_to(tracer, array, shape, subok=False):
    x = tracer.wrap(array)
    data = numpy.broadcast_to(x.data, shape)
    return view(x, views.Expand(data.shape), data)


def at_least(rank):
    def handler(tracer, *arrays):
        found = []
        for x in map(tracer.wrap, arrays):
            data = getattr(numpy, f"atleast_{rank}d")(x.data)
            found.append(view(x, views.Reshape(data.shape), data))
        return found[0] if len(found) == 1 else tuple(found)
    TABLE[f"atleast_{rank}d"] = handler


for _rank in (1, 2, 3):
    at_least(_rank)


@function("copy")
def copy(tracer, a, order="K", subok=False):
    x = tracer.wrap(a)
    return tracer.array(x.value, x.data.copy())


@function("astype")
def astype(tracer, a, dtype, copy=True, **_):
    x = tracer.wrap(a)
    data = x.data.astype(dtype)
    if data.dtype.name not in DTYPES:
        raise tracer.emit.refused("an element type", f"arrays of {data.dtype} cannot be captured")
    return tracer.new(tracer.emit.cast(x.value, data.dtype.name), data, [x])


@function("concatenate", "concat")
def concatenate(tracer, arrays, axis=0, dtype=None):
    parts = [tracer.wrap(one) for one in arrays]
    if axis is None:
        parts, axis = [part.ravel() for part in parts], 0
    data = numpy.concatenate([part.data for part in parts], axis, dtype=dtype)
    return tracer.new(tracer.emit.cat([part.value for part in parts], axis, data.dtype.name), data, parts)


@function("stack")
def stack(tracer, arrays, axis=0):
    parts = [tracer.wrap(one) for one in arrays]
    return concatenate(tracer, [expand_dims(tracer, part, axis) for part in parts], axis)


@function("vstack", "row_stack")
def vstack(tracer, tup):
    parts = [tracer.wrap(one) for one in tup]
    return concatenate(tracer, [part.reshape(1, -1) if part.ndim < 2 else part for part in parts], 0)


@function("hstack")
def hstack(tracer, tup):
    parts = [tracer.wrap(one) for one in tup]
    return concatenate(tracer, parts, 0 if parts[0].ndim == 1 else 1)


@function("split", "array_split")
def split(tracer, ary, indices_or_sections, axis=0):
    x = tracer.wrap(ary)
    places = numpy.array_split(numpy.arange(x.shape[axis]), indices_or_sections)
    starts = numpy.cumsum([0] + [len(part) for part in places])
    key = [slice(None)] * x.ndim
    parts = []
    for start, part in zip(starts, places):
        key[axis] = slice(int(start), int(start) + len(part))
        parts.append(x[tuple(key)])
    return parts


@function("flipud")
def flipud(tracer, m):
    return flip(tracer, m, 0)


@function("fliplr")
def fliplr(tracer, m):
    return flip(tracer, m, 1)


@function("flip")
def flip(tracer, m, axis=None):
    x = tracer.wrap(m)
    dims = dims_of(x, axis)
    return x[tuple(slice(None, None, -1) if dim in dims else slice(None) for dim in range(x.ndim))]


@function("roll")
def roll(tracer, a, shift, axis=None):
    x = tracer.wrap(a)
    if axis is None:
        return roll(tracer, x.ravel(), shift, 0).reshape(x.shape)
    shifts, axes = ([shift], [axis]) if isinstance(axis, int) else (
        [shift] * len(axis) if isinstance(shift, int) else list(shift), list(axis))
    for by, dim in zip(shifts, axes):
        by = by % x.shape[dim] if x.shape[dim] else 0
        if by:
            head, tail = split(tracer, x, [x.shape[dim] - by], dim)
            x = concatenate(tracer, [tail, head], dim)
    return x


@function("tile")
def tile(tracer, A, reps):
    x = tracer.wrap(A)
    reps = [reps] if isinstance(reps, int) else list(reps)
    x = x.reshape((1,) * max(0, len(reps) - x.ndim) + x.shape)
    reps = [1] * (x.ndim - len(reps)) + reps
    wide = tracer.emit.expand(tracer.emit.view(x.value, [size for one in x.shape for size in (1, one)]),
                              [size for pair in zip(reps, x.shape) for size in pair])
    return made(tracer, lambda: numpy.tile(x.data, reps), tracer.emit.view(
        wide, [by * size for by, size in zip(reps, x.shape)]), x)


@function("repeat")
def repeat(tracer, a, repeats, axis=None):
    x = tracer.wrap(a)
    if not isinstance(repeats, int):
        raise tracer.emit.refused("an operation", "numpy.repeat with counts for each element cannot be captured")
    if axis is None:
        x, axis = x.ravel(), 0
    axis %= x.ndim
    shape = list(x.shape)
    wide = tracer.emit.expand(tracer.emit.view(x.value, shape[:axis + 1] + [1] + shape[axis + 1:]),
                              shape[:axis + 1] + [repeats] + shape[axis + 1:])
    shape[axis] *= repeats
    return made(tracer, lambda: numpy.repeat(x.data, repeats, axis), tracer.emit.view(wide, shape), x)


@function("pad")
def pad(tracer, array, pad_width, mode="constant", constant_values=0):
    x = tracer.wrap(array)
    widths = numpy.broadcast_to(numpy.asarray(pad_width), (x.ndim, 2)).tolist()
    if mode == "constant" and isinstance(constant_values, (int, float)):
        flat = [width for pair in reversed(widths) for width in pair]
        shape = [size + sum(pair) for size, pair in zip(x.shape, widths)]
        number = x.dtype.type(constant_values).item()
        return made(tracer, lambda: numpy.pad(x.data, widths, constant_values=constant_values), tracer.emit.node(
            "constant_pad_nd.default", {"self": x.value, "pad": flat, "value": number}, (x.value.dtype, shape)), x)
    if mode == "constant":
        return pad_unevenly(tracer, x, widths, constant_values)
    if mode in ("edge", "reflect", "symmetric", "wrap"):
        for dim, pair in enumerate(widths):
            places = numpy.pad(numpy.arange(x.shape[dim]), pair, mode=mode)
            if any(pair):
                x = take(tracer, x, places, dim)
        return x
    raise tracer.emit.refused("an operation", f"numpy.pad with mode={mode!r} cannot be captured")


def pad_unevenly(tracer, x, widths, numbers):
    """Another number at each end."""
    for dim, (pair, ends) in enumerate(zip(widths, numpy.broadcast_to(numpy.asarray(numbers), (x.ndim, 2)).tolist())):
        parts = [numpy.full(x.shape[:dim] + (width,) + x.shape[dim + 1:], end, dtype=x.dtype)
                 for width, end in zip(pair, ends)]
        x = concatenate(tracer, [parts[0], x, parts[1]], dim)
    return x


# Choosing.

@function("where")
def where(tracer, condition, x=None, y=None):
    if x is None:
        raise tracer.emit.refused("a shape that depends on data", "numpy.where with a condition alone")
    choice = tracer.wrap(condition)
    data = numpy.where(choice.data, plain(x), plain(y))
    value = tracer.emit.where(choice.value, tracer.operand(x), tracer.operand(y), data.dtype.name)
    return tracer.new(tracer.emit.expand(value, data.shape), data, [choice, x, y])


@function("clip")
def clip(tracer, a, a_min=None, a_max=None, min=None, max=None, **options):
    low, high = (a_min if a_min is not None else min), (a_max if a_max is not None else max)
    x = tracer.wrap(a)
    if low is not None:
        x = numpy.maximum(x, low)
    return x if high is None else numpy.minimum(x, high)


@function("round", "around", "round_")
def rounded(tracer, a, decimals=0):
    x = tracer.wrap(a)
    if x.dtype.kind != "f":
        if decimals < 0:
            raise tracer.emit.refused("an operation", "numpy.round of whole numbers to tens cannot be captured")
        return x
    if decimals <= 0:
        return numpy.rint(x / 10.0 ** -decimals) * 10.0 ** -decimals if decimals else numpy.rint(x)
    return numpy.rint(x * 10.0 ** decimals) / 10.0 ** decimals


@function("nan_to_num")
def nan_to_num(tracer, x, copy=True, nan=0.0, posinf=None, neginf=None):
    x = tracer.wrap(x)
    limits = numpy.finfo(x.dtype)
    x = numpy.where(numpy.isnan(x), x.dtype.type(nan), x)
    x = numpy.where(x == math.inf, x.dtype.type(limits.max if posinf is None else posinf), x)
    return numpy.where(x == -math.inf, x.dtype.type(limits.min if neginf is None else neginf), x)


@function("take")
def take(tracer, a, indices, axis=None, mode="raise"):
    x = tracer.wrap(a)
    if axis is None:
        x, axis = x.ravel(), 0
    axis %= x.ndim
    if mode == "clip":
        indices = numpy.clip(indices, 0, x.shape[axis] - 1)
    elif mode == "wrap":
        indices = numpy.mod(indices, x.shape[axis])
    return x[(slice(None),) * axis + (indices,)]


@function("take_along_axis")
def take_along_axis(tracer, arr, indices, axis=-1):
    x, places = tracer.wrap(arr), tracer.wrap(indices)
    axis %= x.ndim
    index = positive(tracer, places.value, x.shape[axis])
    shape = [size if dim != axis else places.shape[dim] for dim, size in enumerate(x.shape)]
    index = tracer.emit.expand(index, shape)
    return made(tracer, lambda: numpy.take_along_axis(x.data, places.data, axis), tracer.emit.node(
        "gather.default", {"self": x.value, "dim": axis, "index": index, "sparse_grad": False},
        (x.value.dtype, shape)), x, places)


def positive(tracer, index, size):
    """Indices as int64; negative ones count from the end."""
    emit = tracer.emit
    index = emit.cast(index, "int64")
    if index.known is not None and (index.known >= 0).all():
        return index
    negative = emit.binary("lt", index, 0, "int64", "bool")
    return emit.where(negative, emit.binary("add", index, size, "int64"), index, "int64")


def split_key(x, key):
    """(key with basic parts alone, [(dim, index)]) of a key with arrays of integers in it."""
    from kerf.graph_numpy_array import TracedArray
    key = list(key) if isinstance(key, tuple) else [key]
    key = [numpy.asarray(item) if isinstance(item, (list, range)) else item for item in key]
    arrays = (TracedArray, numpy.ndarray)
    used = sum(item.ndim if isinstance(item, arrays) and item.dtype == bool else item is not None and
               item is not Ellipsis for item in key)
    if not any(item is Ellipsis for item in key):
        key.append(Ellipsis)
    place = next(i for i, item in enumerate(key) if item is Ellipsis)
    key[place:place + 1] = [slice(None)] * (x.ndim - used)
    return key, arrays


def index(x, key):
    """Indexing with arrays: one mask, or integers in any dimensions."""
    tracer, emit = x.tracer, x.tracer.emit
    items, arrays = split_key(x, key)
    if any(isinstance(item, arrays) and item.dtype == bool for item in items):
        if all(one.known for one in [x, *traced(items)]):
            return tracer.constant(x.data[plain(key)].copy())
        raise emit.refused("a shape that depends on data", "a mask as an index: how many elements it chooses is known "
                           "only afterwards")
    items = spread_numbers(items, arrays)
    if any(item is None for item in items):
        places = [place for place, item in enumerate(items) if isinstance(item, arrays)]
        if places[-1] - places[0] + 1 != len(places):
            raise emit.refused("an operation", "an index with None between arrays cannot be captured")
        items = [item for item in items if item is not None]
    basic = tuple(slice(None) if isinstance(item, arrays) else item for item in items)
    part = x[basic]
    indices = [positive(tracer, tracer.wrap(item).value, part.shape[dim]) if isinstance(item, arrays) else None
               for dim, item in enumerate(items)]
    data = x.data[plain(key)]
    while indices and indices[-1] is None:
        indices.pop()
    shape = part.data[tuple(plain(item) if isinstance(item, arrays) else slice(None) for item in items)].shape
    value = emit.node("index.Tensor", {"self": part.value, "indices": indices}, (part.value.dtype, list(shape)))
    return tracer.new(emit.view(value, data.shape), data, [x, *traced(key)])


def spread_numbers(items, arrays):
    """A number beside arrays is an array too, of their shape."""
    if not any(isinstance(item, (int, numpy.integer)) for item in items):
        return items
    shape = numpy.broadcast_shapes(*(item.shape for item in items if isinstance(item, arrays)))
    return [numpy.full(shape, item) if isinstance(item, (int, numpy.integer)) else item for item in items]


def index_put(x, key, new, accumulate=False):
    """The value of x after x[key] = new, or += new, for a key with arrays."""
    tracer, emit = x.tracer, x.tracer.emit
    items, arrays = split_key(x, key)
    masks = [(dim, item) for dim, item in enumerate(items) if isinstance(item, arrays) and item.dtype == bool]
    source = emit.cast(new.value, x.value.dtype)
    if masks and accumulate:
        raise emit.refused("an update in place", "a mask where places are added to: use numpy.where")
    if masks:
        (dim, mask), others = masks[0], len(masks) - 1
        if others or new.size != 1 or any(not isinstance(item, slice) or item != slice(None)
                                          for i, item in enumerate(items) if i != dim):
            raise emit.refused("an update in place", "a mask and more than one value: use numpy.where")
        mask = tracer.wrap(mask)
        shape = [1] * dim + list(mask.shape) + [1] * (x.ndim - dim - mask.ndim)
        return emit.where(emit.view(mask.value, shape), emit.view(source, []), x.value, x.value.dtype)
    items = spread_numbers(items, arrays)
    if any(not isinstance(item, arrays) and item != slice(None) for item in items):
        raise emit.refused("an update in place", "an index with arrays and slices cannot be captured")
    indices = [positive(tracer, tracer.wrap(item).value, x.shape[dim]) if isinstance(item, arrays) else None
               for dim, item in enumerate(items)]
    while indices and indices[-1] is None:
        indices.pop()
    source = emit.expand(source, x.data[plain(key)].shape)
    return emit.node("index_put.default", {"self": x.value, "indices": indices, "values": source,
                                           "accumulate": accumulate},
                     (x.value.dtype, x.value.shape))


@function("sort")
def sort(tracer, a, axis=-1, kind=None, **_):
    return sorted_pair(tracer, a, axis, 0)


@function("argsort")
def argsort(tracer, a, axis=-1, kind=None, **_):
    return sorted_pair(tracer, a, axis, 1)


def sorted_pair(tracer, a, axis, which):
    x = tracer.wrap(a)
    if axis is None:
        x, axis = x.ravel(), 0
    pair = tracer.emit.node("sort.default", {"self": x.value, "dim": axis % x.ndim, "descending": False},
                            (x.value.dtype, x.value.shape), ("int64", x.value.shape))
    data = numpy.argsort(x.data, axis, kind="stable") if which else numpy.sort(x.data, axis)
    return tracer.new(pair[which], data, [x])


# Products.

def product_type(*arrays):
    return numpy.result_type(*(one.data.dtype for one in arrays)).name


@function("dot")
def dot(tracer, a, b):
    left, right = tracer.wrap(a), tracer.wrap(b)
    if not left.ndim or not right.ndim:
        return left * right
    if left.ndim <= 2 and right.ndim <= 2 or right.ndim == 1:
        return numpy.matmul(left, right)
    return tensordot(tracer, left, right, ([-1], [-2]))


@function("inner")
def inner(tracer, a, b):
    return tensordot(tracer, a, b, ([-1], [-1]))


@function("vdot")
def vdot(tracer, a, b):
    return numpy.matmul(tracer.wrap(a).ravel(), tracer.wrap(b).ravel())


@function("outer")
def outer(tracer, a, b):
    return tracer.wrap(a).reshape(-1, 1) * tracer.wrap(b).reshape(1, -1)


@function("tensordot")
def tensordot(tracer, a, b, axes=2):
    left, right = tracer.wrap(a), tracer.wrap(b)
    if isinstance(axes, int):
        axes = (list(range(left.ndim - axes, left.ndim)), list(range(axes)))
    pairs = [[one] if isinstance(one, int) else list(one) for one in axes]
    first, second = [[axis % x.ndim for axis in one] for x, one in zip((left, right), pairs)]
    letters = [chr(97 + i) for i in range(left.ndim + right.ndim)]
    one, other = letters[:left.ndim], letters[left.ndim:]
    for i, j in zip(first, second):
        other[j] = one[i]
    free = [c for i, c in enumerate(one) if i not in first] + [c for j, c in enumerate(other) if j not in second]
    return einsum(tracer, f"{''.join(one)},{''.join(other)}->{''.join(free)}", left, right)


@function("einsum")
def einsum(tracer, subscripts, *operands, **_):
    if not isinstance(subscripts, str):
        raise tracer.emit.refused("an operation", "numpy.einsum without a string cannot be captured")
    arrays = [tracer.wrap(one) for one in operands]
    data = numpy.asarray(numpy.einsum(subscripts, *(one.data for one in arrays)))
    value = einsum_value(tracer.emit, subscripts, [one.value for one in arrays], data.dtype.name)
    return tracer.new(tracer.emit.view(value, data.shape), data, arrays)


# Matrices.

def triangle(name, keep):
    def handler(tracer, m, k=0):
        x = tracer.wrap(m)
        rows = numpy.arange(x.shape[-2]).reshape(-1, 1)
        columns = numpy.arange(x.shape[-1])
        line = tracer.wrap(rows)
        mask = line + k >= columns if keep == "lower" else line + k <= columns
        return numpy.where(mask, x, x.dtype.type(0))
    TABLE[name] = handler


triangle("tril", "lower")
triangle("triu", "upper")


@function("diagonal", "diag")
def diagonal(tracer, a, offset=0, axis1=0, axis2=1, k=None):
    x = tracer.wrap(a)
    offset = k if k is not None else offset
    if x.ndim == 1:
        size = x.shape[0]
        if offset:
            raise tracer.emit.refused("an operation", "numpy.diag beside the diagonal cannot be captured")
        return numpy.where(tracer.wrap(numpy.eye(size, dtype=bool)), x.reshape(1, -1), x.dtype.type(0))
    data = x.data.diagonal(offset, axis1, axis2)
    args = {"self": x.value, "offset": offset, "dim1": axis1 % x.ndim, "dim2": axis2 % x.ndim}
    return tracer.new(tracer.emit.node("diagonal.default", args, (x.value.dtype, list(data.shape))), data, [x])


@function("trace")
def trace(tracer, a, offset=0, axis1=0, axis2=1):
    return call(tracer, "sum", (diagonal(tracer, a, offset, axis1, axis2),), {"axis": -1})


@function("diff")
def diff(tracer, a, n=1, axis=-1, prepend=numpy._NoValue, append=numpy._NoValue):
    x = tracer.wrap(a)
    parts = [tracer.wrap(one) for one in (prepend, x, append) if one is not numpy._NoValue]
    if len(parts) > 1:
        size = [1 if dim == axis % x.ndim else count for dim, count in enumerate(x.shape)]
        x = concatenate(tracer, [broadcast_to(tracer, one, size) if not one.ndim else one for one in parts], axis)
    for _ in range(n):
        key = [slice(None)] * x.ndim
        key[axis] = slice(1, None)
        ahead = x[tuple(key)]
        key[axis] = slice(None, -1)
        x = ahead - x[tuple(key)]
    return x


def filled(name, number):
    def handler(tracer, a, dtype=None, order=None, subok=None, shape=None):
        x = tracer.wrap(a)
        return tracer.constant(getattr(numpy, name)(x.data, dtype=dtype, shape=shape) if number is not None
                               else numpy.zeros_like(x.data, dtype=dtype, shape=shape))
    TABLE[name] = handler


filled("zeros_like", 0)
filled("ones_like", 1)
filled("empty_like", None)


@function("full_like")
def full_like(tracer, a, fill_value, dtype=None, **_):
    x = tracer.wrap(a)
    if traced(fill_value):
        return copy(tracer, broadcast_to(tracer, astype(tracer, fill_value, dtype or x.dtype), x.shape))
    return tracer.constant(numpy.full_like(x.data, fill_value, dtype=dtype))


@function("shape")
def shape_of(tracer, a):
    return a.shape


@function("ndim")
def ndim_of(tracer, a):
    return a.ndim


@function("size")
def size_of(tracer, a, axis=None):
    return a.size if axis is None else a.shape[axis]
