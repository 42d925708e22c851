"""numpy's functions that are written with its other functions.

Each is computed on traced arrays and by numpy itself, on the same numbers: what is not the same in shape, type and
value is refused, so that a slip here is never a wrong kernel.
"""

import math

import numpy

from kerf import graph_numpy_functions as functions

# More pieces than this make a long graph.
MOST_PIECES = 256


def composed(*names):
    def add(build):
        def handler(tracer, *args, **kwargs):
            result = build(tracer, *args, **kwargs)
            with numpy.errstate(all="ignore"):
                wanted = original(names[0])(*functions.plain(args), **functions.plain(kwargs))
            if not isinstance(wanted, (list, tuple)):
                return same(tracer, names[0], result, wanted)
            found = [same(tracer, names[0], one, other) for one, other in zip(result, wanted)]
            return found if isinstance(wanted, list) else tuple(found)
        functions.TABLE.update((name, handler) for name in names)
        return handler
    return add


def original(name):
    found = numpy
    for part in name.split("."):
        found = getattr(found, part, None)
    return found if found is not None else numpy.lib.stride_tricks.sliding_window_view


def same(tracer, name, got, wanted):
    got, wanted = tracer.wrap(got), numpy.asarray(wanted)
    if got.dtype != wanted.dtype:
        got = got.astype(wanted.dtype)
    if got.shape != wanted.shape or not close(got.data, wanted):
        raise tracer.emit.refused("an operation", f"numpy.{name} as it is called here cannot be captured")
    return got


def close(got, wanted):
    exact = wanted.dtype.kind not in "f"
    with numpy.errstate(all="ignore"):
        return numpy.array_equal(got, wanted) if exact else numpy.allclose(got, wanted, 1e-2, 1e-2, equal_nan=True)


def key_for(x, axis, item):
    return (slice(None),) * (axis % x.ndim) + (item,)


# Sums and orders.

@composed("average")
def average(tracer, a, axis=None, weights=None, returned=False, *, keepdims=False):
    x = tracer.wrap(a)
    if returned:
        raise tracer.emit.refused("an operation", "numpy.average with returned=True cannot be captured")
    if weights is None:
        return x.mean(axis=axis, keepdims=keepdims)
    w = tracer.wrap(weights)
    if w.shape != x.shape:
        w = w.reshape([-1 if dim == axis % x.ndim else 1 for dim in range(x.ndim)])
    whole = w.sum(axis=axis, keepdims=keepdims) if w.shape == x.shape else w.sum()
    return (x * w).sum(axis=axis, keepdims=keepdims) / whole


def without_nan(name, neutral):
    @composed(f"nan{name}")
    def build(tracer, a, axis=None, dtype=None, keepdims=False):
        x = tracer.wrap(a)
        options = {} if dtype is None else {"dtype": dtype}
        if x.dtype.kind != "f":
            return functions.call(tracer, name, (x,), {"axis": axis, "keepdims": keepdims, **options})
        missing = numpy.isnan(x)
        best = functions.call(tracer, name, (numpy.where(missing, x.dtype.type(neutral), x),),
                              {"axis": axis, "keepdims": keepdims, **options})
        if name in ("sum", "prod"):
            return best
        return numpy.where(numpy.all(missing, axis=axis, keepdims=keepdims), x.dtype.type(math.nan), best)


without_nan("sum", 0)
without_nan("prod", 1)
without_nan("max", -math.inf)
without_nan("min", math.inf)


@composed("nancumsum")
def nancumsum(tracer, a, axis=None, dtype=None):
    x = tracer.wrap(a)
    return numpy.cumsum(numpy.where(numpy.isnan(x), x.dtype.type(0), x), axis=axis, dtype=dtype)


def nan_mean(tracer, x, axis, keepdims):
    missing = numpy.isnan(x)
    total = functions.call(tracer, "sum", (numpy.where(missing, x.dtype.type(0), x),),
                           {"axis": axis, "keepdims": keepdims})
    count = functions.call(tracer, "sum", (~missing,), {"axis": axis, "keepdims": keepdims})
    return total, count


@composed("nanmean")
def nanmean(tracer, a, axis=None, dtype=None, keepdims=False):
    total, count = nan_mean(tracer, tracer.wrap(a), axis, keepdims)
    return total / count.astype(total.dtype)


@composed("nanvar")
def nanvar(tracer, a, axis=None, dtype=None, ddof=0, keepdims=False):
    x = tracer.wrap(a)
    total, count = nan_mean(tracer, x, axis, True)
    apart = x - total / count.astype(x.dtype)
    squares, _ = nan_mean(tracer, apart * apart, axis, keepdims)
    _, count = nan_mean(tracer, x, axis, keepdims)
    return squares / (count - ddof).astype(x.dtype)


@composed("nanstd")
def nanstd(tracer, a, **options):
    return numpy.sqrt(nanvar(tracer, a, **options))


@composed("quantile")
def quantile(tracer, a, q, axis=None, method="linear", keepdims=False):
    x = tracer.wrap(a)
    if method != "linear" or functions.traced(q) or isinstance(axis, tuple):
        raise tracer.emit.refused("an operation", "numpy.quantile with a method, axes or places of its own")
    whole = axis is None
    row = numpy.sort(x.ravel() if whole else x, axis=0 if whole else axis)
    axis = 0 if whole else axis % x.ndim
    found = []
    for share in numpy.asarray(q, dtype=float).ravel():
        place = share * (row.shape[axis] - 1)
        low = int(math.floor(place))
        high = min(low + 1, row.shape[axis] - 1)
        left, right = row[key_for(row, axis, low)], row[key_for(row, axis, high)]
        by = row.dtype.type(place - low) if row.dtype.kind == "f" else place - low
        found.append(left + (right - left) * by if by < 0.5 else right - (right - left) * (1 - by))
    last = row[key_for(row, axis, -1)]
    found = [numpy.where(numpy.isnan(last), last.dtype.type(math.nan), one) if row.dtype.kind == "f" else one
             for one in found]
    if keepdims:
        shape = [1] * x.ndim if whole else [1 if dim == axis else size for dim, size in enumerate(x.shape)]
        found = [one.reshape(shape) for one in found]
    return found[0] if numpy.ndim(q) == 0 else numpy.stack(found)


@composed("percentile")
def percentile(tracer, a, q, axis=None, method="linear", keepdims=False):
    return quantile(tracer, a, numpy.asarray(q) / 100, axis=axis, method=method, keepdims=keepdims)


@composed("median")
def median(tracer, a, axis=None, keepdims=False, overwrite_input=False):
    return quantile(tracer, a, 0.5, axis=axis, keepdims=keepdims)


@composed("searchsorted")
def searchsorted(tracer, a, v, side="left", sorter=None):
    edges, x = tracer.wrap(a), tracer.wrap(v)
    flat = x.reshape(x.shape + (1,))
    smaller = edges < flat if side == "left" else edges <= flat
    if edges.shape[0] > MOST_PIECES or sorter is not None:
        raise tracer.emit.refused("an operation", f"numpy.searchsorted in more than {MOST_PIECES} edges or with sorter=")
    return smaller.sum(axis=-1)


@composed("digitize")
def digitize(tracer, x, bins, right=False):
    edges = tracer.wrap(bins)
    rising = edges.shape[0] < 2 or not edges.known or edges.data[-1] >= edges.data[0]
    if not rising:
        raise tracer.emit.refused("an operation", "numpy.digitize with falling edges cannot be captured")
    return searchsorted(tracer, edges, x, side="left" if right else "right")


@composed("interp")
def interp(tracer, x, xp, fp, left=None, right=None, period=None):
    x, edges, heights = tracer.wrap(x), tracer.wrap(xp), tracer.wrap(fp)
    if period is not None:
        raise tracer.emit.refused("an operation", "numpy.interp with period= cannot be captured")
    place = numpy.clip(searchsorted(tracer, edges, x, side="right") - 1, 0, edges.shape[0] - 2)
    low, high = numpy.take(edges, place), numpy.take(edges, place + 1)
    first, second = numpy.take(heights, place), numpy.take(heights, place + 1)
    result = first + (second - first) / (high - low) * (x - low)
    result = numpy.where(x < edges[0], heights[0] if left is None else left, result)
    return numpy.where(x >= edges[-1], numpy.where(x > edges[-1], heights[-1] if right is None else right,
                                                   heights[-1]), result)


@composed("histogram")
def histogram(tracer, a, bins=10, range=None, density=None, weights=None):
    x = tracer.wrap(a).ravel()
    if functions.traced(bins) or numpy.ndim(bins) == 0 and range is None or weights is not None:
        raise tracer.emit.refused("a shape that depends on data" if numpy.ndim(bins) else "an operation",
                                  "numpy.histogram without range=, or with weights=, cannot be captured")
    edges = numpy.histogram_bin_edges(numpy.zeros(0, dtype=x.dtype), bins, range)
    column = x.reshape(-1, 1)
    last = numpy.arange(len(edges) - 1) == len(edges) - 2
    inside = (column >= edges[:-1]) & ((column < edges[1:]) | (last & (column <= edges[1:])))
    counts = inside.sum(axis=0)
    return (counts / numpy.diff(edges) / counts.sum() if density else counts), edges


# Shapes.

@composed("column_stack")
def column_stack(tracer, tup):
    return numpy.concatenate([one.reshape(-1, 1) if one.ndim < 2 else one for one in map(tracer.wrap, tup)], axis=1)


@composed("dstack")
def dstack(tracer, tup):
    parts = [tracer.wrap(one) for one in tup]
    parts = [one.reshape(1, -1, 1) if one.ndim < 2 else one.reshape(one.shape + (1,)) if one.ndim == 2 else one
             for one in parts]
    return numpy.concatenate(parts, axis=2)


@composed("append")
def append(tracer, arr, values, axis=None):
    parts = [tracer.wrap(arr), tracer.wrap(values)]
    return numpy.concatenate([one.ravel() for one in parts] if axis is None else parts, axis=axis or 0)


@composed("delete")
def delete(tracer, arr, obj, axis=None):
    x = tracer.wrap(arr)
    x, axis = (x.ravel(), 0) if axis is None else (x, axis)
    return numpy.take(x, numpy.delete(numpy.arange(x.shape[axis]), obj), axis=axis)


@composed("insert")
def insert(tracer, arr, obj, values, axis=None):
    x, new = tracer.wrap(arr), tracer.wrap(values)
    x, axis = (x.ravel(), 0) if axis is None else (x, axis % x.ndim)
    if not isinstance(obj, int):
        raise tracer.emit.refused("an operation", "numpy.insert at several places cannot be captured")
    place = obj + x.shape[axis] if obj < 0 else obj
    size = [1 if dim == axis else count for dim, count in enumerate(x.shape)]
    new = new.reshape(size) if new.size == math.prod(size) else numpy.broadcast_to(new, size)
    return numpy.concatenate([x[key_for(x, axis, slice(0, place))], new.astype(x.dtype),
                              x[key_for(x, axis, slice(place, None))]], axis=axis)


@composed("resize")
def resize(tracer, a, new_shape):
    x = tracer.wrap(a).ravel()
    count = int(numpy.prod(new_shape))
    return numpy.take(x, numpy.arange(count) % x.shape[0]).reshape(new_shape)


@composed("rot90")
def rot90(tracer, m, k=1, axes=(0, 1)):
    x, k = tracer.wrap(m), k % 4
    first, second = (axis % x.ndim for axis in axes)
    if k == 0:
        return x
    if k == 2:
        return numpy.flip(numpy.flip(x, first), second)
    return (numpy.swapaxes(numpy.flip(x, second), first, second) if k == 1
            else numpy.flip(numpy.swapaxes(x, first, second), second))


@composed("meshgrid")
def meshgrid(tracer, *xi, copy=True, sparse=False, indexing="xy"):
    rank = len(xi)
    parts = [tracer.wrap(one).reshape([-1 if dim == place else 1 for dim in range(rank)])
             for place, one in enumerate(xi)]
    if not sparse:
        shape = [tracer.wrap(one).size for one in xi]
        parts = [numpy.broadcast_to(one, shape) for one in parts]
    return [numpy.swapaxes(one, 0, 1) if indexing == "xy" and rank > 1 else one for one in parts]


@composed("sliding_window_view")
def sliding_window_view(tracer, x, window_shape, axis=None):
    x = tracer.wrap(x)
    window = [window_shape] if isinstance(window_shape, int) else list(window_shape)
    axes = list(range(x.ndim)) if axis is None else [axis] if isinstance(axis, int) else list(axis)
    for size, dim in zip(window, axes):
        places = numpy.arange(x.shape[dim] - size + 1).reshape(-1, 1) + numpy.arange(size)
        taken = numpy.take(x, places, axis=dim)
        x = numpy.moveaxis(taken, dim % x.ndim + 1, -1)
    return x


# Choosing.

@composed("select")
def select(tracer, condlist, choicelist, default=0):
    result = default
    for condition, choice in reversed(list(zip(condlist, choicelist))):
        result = numpy.where(tracer.wrap(condition), choice, result)
    return result


@composed("piecewise")
def piecewise(tracer, x, condlist, funclist, *args, **kw):
    x = tracer.wrap(x)
    conditions = list(condlist) if isinstance(condlist, (list, tuple)) else [condlist]
    result = numpy.zeros_like(x)
    parts = list(funclist)
    if len(parts) == len(conditions) + 1:
        result = numpy.full_like(x, 0) + value_of(parts.pop(), x, args, kw)
    for condition, part in zip(conditions, parts):
        result = numpy.where(condition, value_of(part, x, args, kw), result)
    return result.astype(x.dtype)


def value_of(part, x, args, kw):
    return part(x, *args, **kw) if callable(part) else part


@composed("isclose")
def isclose(tracer, a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    x, y = tracer.wrap(a), tracer.wrap(b)
    near = (abs(x - y) <= atol + rtol * abs(y)) & numpy.isfinite(y) | (x == y)
    return near | (numpy.isnan(x) & numpy.isnan(y)) if equal_nan else near


@composed("allclose")
def allclose(tracer, a, b, **options):
    return numpy.all(isclose(tracer, a, b, **options))


@composed("array_equal")
def array_equal(tracer, a1, a2, equal_nan=False):
    x, y = tracer.wrap(a1), tracer.wrap(a2)
    if equal_nan or x.shape != y.shape:
        raise tracer.emit.refused("an operation", "numpy.array_equal with equal_nan= or of different shapes")
    return numpy.all(x == y)


@composed("isin")
def isin(tracer, element, test_elements, assume_unique=False, invert=False, kind=None):
    x, others = tracer.wrap(element), tracer.wrap(test_elements).ravel()
    found = numpy.any(x.reshape(x.shape + (1,)) == others, axis=-1)
    return ~found if invert else found


def put_along_axis(tracer, arr, indices, values, axis):
    if not hasattr(arr, "tracer"):
        raise tracer.emit.refused("an update in place", "put_along_axis writes into an array numpy made")
    places, rank = tracer.wrap(indices), arr.ndim
    key = tuple(places if dim == axis % rank else numpy.arange(arr.shape[dim]).reshape(
        [-1 if one == dim else 1 for one in range(rank)]) for dim in range(rank))
    arr[key] = values


functions.TABLE["put_along_axis"] = put_along_axis


# Numbers.

@composed("sinc")
def sinc(tracer, x):
    x = tracer.wrap(x)
    turn = numpy.where(x == 0, x.dtype.type(1e-20), x) * x.dtype.type(math.pi)
    return numpy.where(x == 0, x.dtype.type(1), numpy.sin(turn) / turn)


@composed("fix")
def fix(tracer, x):
    return numpy.trunc(tracer.wrap(x))


@composed("polyval")
def polyval(tracer, p, x):
    x, factors = tracer.wrap(x), list(p)
    total = numpy.zeros_like(x)
    for factor in factors:
        total = total * x + factor
    return total


@composed("trapezoid", "trapz")
def trapezoid(tracer, y, x=None, dx=1.0, axis=-1):
    y = tracer.wrap(y)
    middle = (y[key_for(y, axis, slice(1, None))] + y[key_for(y, axis, slice(None, -1))]) / 2.0
    if x is not None:
        x = tracer.wrap(x)
        dx = numpy.diff(x, axis=axis) if x.ndim > 1 else numpy.diff(x).reshape(
            [-1 if dim == axis % y.ndim else 1 for dim in range(y.ndim)])
    return (middle * dx).sum(axis=axis)


@composed("gradient")
def gradient(tracer, f, *varargs, axis=None, edge_order=1):
    x = tracer.wrap(f)
    if len(varargs) > 1 or edge_order != 1 or varargs and not isinstance(varargs[0], (int, float)):
        raise tracer.emit.refused("an operation", "numpy.gradient with places or edge_order=2 cannot be captured")
    apart = float(varargs[0]) if varargs else 1.0
    axes = list(range(x.ndim)) if axis is None else [axis] if isinstance(axis, int) else list(axis)
    found = []
    for dim in axes:
        def at(start, stop, dim=dim):
            return x[key_for(x, dim, slice(start, stop))]
        found.append(numpy.concatenate([(at(1, 2) - at(0, 1)) / apart, (at(2, None) - at(None, -2)) / (2.0 * apart),
                                        (at(-1, None) - at(-2, -1)) / apart], axis=dim))
    return found[0] if len(found) == 1 else found


# Products.

@composed("kron")
def kron(tracer, a, b):
    x, y = tracer.wrap(a), tracer.wrap(b)
    rank = max(x.ndim, y.ndim)
    x, y = (one.reshape((1,) * (rank - one.ndim) + one.shape) for one in (x, y))
    left = x.reshape([size for one in x.shape for size in (one, 1)])
    right = y.reshape([size for one in y.shape for size in (1, one)])
    return (left * right).reshape([one * other for one, other in zip(x.shape, y.shape)])


@composed("cross")
def cross(tracer, a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = numpy.moveaxis(tracer.wrap(a), axisa, -1), numpy.moveaxis(tracer.wrap(b), axisb, -1)
    if x.shape[-1] != 3 or y.shape[-1] != 3:
        raise tracer.emit.refused("an operation", "numpy.cross of vectors with two elements cannot be captured")
    (x0, x1, x2), (y0, y1, y2) = ([one[..., place] for place in range(3)] for one in (x, y))
    result = numpy.stack([x1 * y2 - x2 * y1, x2 * y0 - x0 * y2, x0 * y1 - x1 * y0], axis=-1)
    return numpy.moveaxis(result, -1, axisc)


@composed("convolve")
def convolve(tracer, a, v, mode="full"):
    x, w = tracer.wrap(a), tracer.wrap(v)
    if w.shape[0] > x.shape[0]:
        x, w = w, x
    return correlated(tracer, x, numpy.flip(w), mode)


def correlated(tracer, x, w, mode):
    count, size = w.shape[0], x.shape[0]
    if count > MOST_PIECES:
        raise tracer.emit.refused("an operation", f"a convolution with more than {MOST_PIECES} factors")
    half = (count - 1) // 2
    before, after = {"full": (count - 1, count - 1), "valid": (0, 0), "same": (count - 1 - half, half)}[mode]
    kind = numpy.result_type(x.dtype, w.dtype)
    x, w = x.astype(kind), w.astype(kind)
    wide = numpy.pad(x, (before, after))
    places = numpy.arange(size + before + after - count + 1).reshape(-1, 1) + numpy.arange(count)
    return numpy.take(wide, places) @ w


@composed("linalg.matrix_power")
def matrix_power(tracer, a, n):
    x = tracer.wrap(a)
    if not 1 <= n <= 64:
        raise tracer.emit.refused("an operation", "numpy.linalg.matrix_power with such a power cannot be captured")
    if n == 1:
        return x
    half = matrix_power(tracer, x, n // 2)
    return half @ half @ x if n % 2 else half @ half


@composed("cov")
def cov(tracer, m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, dtype=None):
    x = tracer.wrap(m)
    if y is not None or fweights is not None or aweights is not None:
        raise tracer.emit.refused("an operation", "numpy.cov with weights or a second array cannot be captured")
    x = x.reshape(1, -1) if x.ndim < 2 else x if rowvar else x.T
    x = x.astype(numpy.result_type(x.dtype, numpy.float64))
    x = x - x.mean(axis=1, keepdims=True)
    ddof = (0 if bias else 1) if ddof is None else ddof
    return numpy.squeeze((x @ x.T) / float(x.shape[1] - ddof))


@composed("corrcoef")
def corrcoef(tracer, x, y=None, rowvar=True):
    if y is not None:
        raise tracer.emit.refused("an operation", "numpy.corrcoef of two arrays cannot be captured")
    both = cov(tracer, x, rowvar=rowvar)
    spread = numpy.sqrt(numpy.diag(both))
    return numpy.clip(both / spread.reshape(-1, 1) / spread.reshape(1, -1), -1, 1)


@composed("apply_along_axis")
def apply_along_axis(tracer, func1d, axis, arr, *args, **kwargs):
    x = numpy.moveaxis(tracer.wrap(arr), axis, -1)
    rows = x.reshape(-1, x.shape[-1])
    if rows.shape[0] > MOST_PIECES:
        raise tracer.emit.refused("an operation", f"numpy.apply_along_axis over more than {MOST_PIECES} rows")
    found = numpy.stack([tracer.wrap(func1d(rows[row], *args, **kwargs)) for row in range(rows.shape[0])])
    found = found.reshape(x.shape[:-1] + found.shape[1:])
    return found if found.ndim < x.ndim else numpy.moveaxis(found, -1, axis)


def depends(name):
    def handler(tracer, *args, **kwargs):
        from kerf.graph_numpy_functions import unknown
        found = [one for one in functions.traced([args, kwargs]) if not one.known]
        if found:
            raise tracer.emit.refused("a shape that depends on data",
                                      f"numpy.{name}: how many elements it gives is known only afterwards")
        return unknown(tracer, name, lambda: original(name)(*functions.plain(args), **functions.plain(kwargs)), args)
    functions.TABLE[name] = handler


for _name in ("nonzero", "flatnonzero", "argwhere", "unique", "extract", "compress", "bincount", "intersect1d",
              "setdiff1d", "union1d"):
    depends(_name)


# Methods of ufuncs.

def at(tracer, name, target, places, values=None):
    """add.at: what stands at one place twice is added twice."""
    x, new = target, tracer.wrap(values)
    if name not in ("add", "subtract") or not hasattr(target, "tracer"):
        raise tracer.emit.refused("an operation", f"numpy.{name}.at cannot be captured")
    new = -new if name == "subtract" else new
    value = functions.index_put(x, places, new, accumulate=True)
    getattr(numpy, name).at(x.data, functions.plain(places), functions.plain(values))
    known = x.known and new.known
    x.write(value)
    x._settle(known)


def reduceat(tracer, name, array, indices, axis=0):
    x = tracer.wrap(array)
    if functions.traced(indices) and not tracer.wrap(indices).known or len(indices) > MOST_PIECES:
        raise tracer.emit.refused("an operation", f"numpy.{name}.reduceat with such indices cannot be captured")
    places = [int(one) for one in functions.plain(indices)] + [x.shape[axis]]
    parts = []
    for start, stop in zip(places, places[1:]):
        part = x[key_for(x, axis, slice(start, max(stop, start + 1)))]
        parts.append(getattr(numpy, name).reduce(part, axis=axis, keepdims=True))
    return numpy.concatenate(parts, axis=axis)
