"""MindSpore's primitives that move elements: views, parts, padding, indexing, and those that make tensors."""

import math
import struct

import numpy

from kerf import graph_numpy_views as views
from kerf.graph_build import DType
from kerf.graph_mindspore_build import rule


@rule("Reshape", "ViewAs", "ExpandDims", "ExpandDimsView", "Squeeze", "Flatten", "FlattenExt")
def view(b, x, *_):
    return b.emit.view(b.value(x), b.spec.shape)


@rule("BroadcastTo", "BroadcastToView")
def expand(b, x, *_):
    return b.emit.expand(b.value(x), b.spec.shape)


@rule("Transpose", "TransposeView")
def transpose(b, x, dims):
    return b.emit.permute(b.value(x), b.ints(dims))


@rule("TransposeExtView")
def swap(b, x, one, other):
    x = b.value(x)
    dims = list(range(len(x.shape)))
    one, other = b.number(one), b.number(other)
    dims[one], dims[other] = dims[other], dims[one]
    return b.emit.permute(x, dims)


@rule("TExt")
def turn(b, x):
    x = b.value(x)
    return b.emit.permute(x, range(len(x.shape))[::-1]) if len(x.shape) > 1 else x


# Joining and parting.

@rule("Concat")
def concat(b, items, axis=0):
    return b.emit.cat([b.value(one) for one in items], b.number(axis), b.dtype)


@rule("Stack")
def stack(b, items, axis=0):
    axis = b.attribute("axis", axis) % len(b.spec.shape)
    parts = [b.value(one) for one in items]
    return b.emit.cat([b.emit.view(one, one.shape[:axis] + [1] + one.shape[axis:]) for one in parts], axis, b.dtype)


def parts_of(b, x, axis, sizes):
    x, found, start = b.value(x), [], 0
    axis %= len(x.shape)
    for size in sizes:
        found.append(b.emit.slice(x, axis, start, start + size))
        start += size
    return found


@rule("Split", "SplitTensorView", "SplitWithSizeView", "ChunkView")
def split(b, x, one=0, other=0):
    """The sizes are those of the results; old and new primitives have the axis in different places."""
    axis = b.number(one if b.node.op == "Split" else other)
    sizes = [spec.shape[axis] for spec in b.node.result]
    return parts_of(b, x, axis, sizes)


@rule("Unstack", "UnstackExtView")
def unstack(b, x, axis=0):
    x = b.value(x)
    axis = b.attribute("axis", axis) % len(x.shape)
    return [b.emit.select(x, axis, index) for index in range(x.shape[axis])]


@rule("StridedSlice")
def strided_slice(b, x, begin, end, strides, begin_mask=0, end_mask=0, ellipsis_mask=0, new_mask=0, shrink_mask=0):
    if ellipsis_mask or new_mask:
        raise b.refused(" with an ellipsis or a new axis cannot be captured")
    x, dim = b.value(x), 0
    for place, (first, last, step) in enumerate(zip(b.ints(begin), b.ints(end), b.ints(strides))):
        size = x.shape[dim]
        if shrink_mask >> place & 1:
            x = b.emit.select(x, dim, first % size)
            continue
        part = slice(None if begin_mask >> place & 1 else first, None if end_mask >> place & 1 else last, step)
        for move in views.slice_steps(dim, size, part):
            x = move.forward(b.emit, x)
        dim += 1
    return x


@rule("Slice")
def slice_of(b, x, begin, size):
    x = b.value(x)
    for dim, (start, count) in enumerate(zip(b.ints(begin), b.ints(size))):
        x = b.emit.slice(x, dim, start, x.shape[dim] if count == -1 else start + count)
    return x


@rule("NarrowView")
def narrow(b, x, dim, start, count):
    x, start = b.value(x), b.number(start)
    dim = b.number(dim) % len(x.shape)
    start %= max(1, x.shape[dim])
    return b.emit.slice(x, dim, start, start + b.number(count))


@rule("SelectExtView")
def select_at(b, x, dim, index):
    x = b.value(x)
    dim = b.number(dim) % len(x.shape)
    return b.emit.select(x, dim, b.number(index) % x.shape[dim])


@rule("ReverseV2")
def flip(b, x, axis):
    return b.emit.flip(b.value(x), b.ints(axis))


@rule("Tile")
def tile(b, x, times):
    x, times = b.value(x), b.ints(times)
    times = [1] * (len(x.shape) - len(times)) + times
    if all(count == 1 for count in times):
        return b.emit.view(x, b.spec.shape)
    return b.emit.node("repeat.default", {"self": x, "repeats": times}, (x.dtype, b.spec.shape))


# Padding. Pairs of sizes begin with the last dimension, as in ATen.

def pad_constant(b, x, pairs, value):
    x = b.value(x)
    if not any(pairs):
        return x
    shape = list(x.shape)
    for place in range(len(pairs) // 2):
        shape[-1 - place] += pairs[2 * place] + pairs[2 * place + 1]
    args = {"self": x, "pad": list(pairs), "value": b.as_type(value, x.dtype)}
    return b.emit.node("constant_pad_nd.default", args, (x.dtype, shape))


def choose(b, x, dim, places):
    """The elements of a dimension at fixed places."""
    places = [int(place) for place in places]
    if places == list(range(x.shape[dim])):
        return x
    index = b.graph.constant("constant", "int64", [len(places)], struct.pack(f"<{len(places)}q", *places))
    return b.emit.node("index_select.default", {"self": x, "dim": dim, "index": index},
                       (x.dtype, x.shape[:dim] + [len(places)] + x.shape[dim + 1:]))


PAD_MODES = {"reflect": "reflect", "REFLECT": "reflect", "SYMMETRIC": "symmetric", "symmetric": "symmetric", "edge": "edge",
             "replicate": "edge", "circular": "wrap"}


def pad_by_place(b, x, pairs, mode):
    x = b.value(x)
    for place in range(len(pairs) // 2):
        dim, pair = len(x.shape) - 1 - place, (pairs[2 * place], pairs[2 * place + 1])
        if min(pair) < 0:
            raise b.refused(" with a negative size cannot be captured")
        x = choose(b, x, dim, numpy.pad(numpy.arange(x.shape[dim]), pair, mode=PAD_MODES[mode]))
    return x


def front_pairs(widths):
    """[[before, after] of each dimension] as pairs from the last dimension."""
    return [size for pair in reversed(widths) for size in pair]


@rule("Pad")
def pad(b, x):
    return pad_constant(b, x, front_pairs(b.attribute("paddings")), 0)


@rule("PadV3")
def pad_v3(b, x, paddings, value=None):
    mode, pairs = b.attribute("mode", "constant"), b.ints(paddings)
    if not b.attribute("paddings_contiguous", True):
        half = len(pairs) // 2
        pairs = [size for place in range(half) for size in (pairs[place], pairs[half + place])]
    if mode == "constant":
        return pad_constant(b, x, pairs, 0 if value is None else b.number(value))
    return pad_by_place(b, x, pairs, mode)


@rule("MirrorPad")
def mirror_pad(b, x, paddings):
    sizes = b.ints(paddings)
    return pad_by_place(b, x, front_pairs([sizes[2 * i:2 * i + 2] for i in range(len(sizes) // 2)]),
                        b.attribute("mode", "REFLECT"))


# Triangles and diagonals.

def triangle(name):
    def make(b, x, diagonal=0):
        x = b.value(x)
        args = {"self": x, "diagonal": b.number(b.attribute("diagonal", diagonal))}
        return b.emit.node(f"{name}.default", args, (x.dtype, x.shape))
    return make


rule("Tril")(triangle("tril"))
rule("Triu")(triangle("triu"))


@rule("Diag")
def diag(b, x):
    x = b.value(x)
    if len(x.shape) != 1:
        raise b.refused(" of more than a row cannot be captured")
    return b.emit.node("diag_embed.default", {"self": x, "offset": 0, "dim1": -2, "dim2": -1}, (x.dtype, b.spec.shape))


@rule("Diagonal")
def diagonal(b, x, offset=0, first=0, second=1):
    x = b.value(x)
    rank = len(x.shape)
    args = {"self": x, "offset": b.number(offset), "dim1": b.number(first) % rank, "dim2": b.number(second) % rank}
    return b.emit.node("diagonal.default", args, (x.dtype, b.spec.shape))


# By index.

def index_of(b, index):
    return b.value(index, "int64")


@rule("Gather")
def gather(b, x, index, axis=0, batch=0):
    if batch:
        raise b.refused(" with batch_dims cannot be captured")
    x, index = b.value(x), index_of(b, index)
    axis = b.number(axis) % max(1, len(x.shape))
    if axis == 0 and len(x.shape) == 2 and index.shape:
        args = {"weight": x, "indices": index, "padding_idx": -1, "scale_grad_by_freq": False, "sparse": False}
        return b.emit.node("embedding.default", args, (x.dtype, index.shape + x.shape[1:]))
    count = math.prod(index.shape)
    rows = b.emit.node("index_select.default", {"self": x, "dim": axis, "index": b.emit.view(index, [count])},
                       (x.dtype, x.shape[:axis] + [count] + x.shape[axis + 1:]))
    return b.emit.view(rows, x.shape[:axis] + index.shape + x.shape[axis + 1:])


@rule("GatherD")
def gather_along(b, x, dim, index):
    x, index = b.value(x), index_of(b, index)
    args = {"self": x, "dim": b.number(dim) % len(x.shape), "index": index, "sparse_grad": False}
    return b.emit.node("gather.default", args, (x.dtype, index.shape))


def coordinates(b, index):
    """The last dimension of an index as tensors of their own."""
    index = index_of(b, index)
    return [b.emit.select(index, len(index.shape) - 1, place) for place in range(index.shape[-1])]


@rule("GatherNd")
def gather_nd(b, x, index):
    x = b.value(x)
    return b.emit.node("index.Tensor", {"self": x, "indices": coordinates(b, index)}, (x.dtype, b.spec.shape))


def put(b, x, index, source, accumulate):
    x = b.value(x)
    args = {"self": x, "indices": coordinates(b, index), "values": b.value(source, x.dtype), "accumulate": accumulate}
    return b.emit.node("index_put.default", args, (x.dtype, x.shape))


@rule("TensorScatterUpdate")
def scatter_update(b, x, index, source):
    return put(b, x, index, source, False)


@rule("TensorScatterAdd")
def scatter_nd_add(b, x, index, source):
    return put(b, x, index, source, True)


@rule("ScatterNd")
def scatter_nd(b, index, source, *_):
    return put(b, b.emit.full(b.spec.shape, b.as_type(0, b.dtype), b.dtype), index, source, True)


@rule("Scatter")
def scatter(b, x, dim, index, source, reduce=0):
    x = b.value(x)
    if reduce not in (0, 1):
        raise b.refused(f" with the reduction {reduce} cannot be captured")
    args = {"self": x, "dim": b.number(dim) % len(x.shape), "index": index_of(b, index), "src": b.value(source, x.dtype)}
    return b.emit.node("scatter_add.default" if reduce == 1 else "scatter.src", args, (x.dtype, x.shape))


@rule("OneHot")
def one_hot(b, index, depth, on, off, axis=-1):
    index, depth = index_of(b, index), b.number(depth)
    axis %= len(b.spec.shape)
    classes = arange(b, 0, depth, 1, "int64", depth)
    shape = [1] * len(b.spec.shape)
    shape[axis] = depth
    same = b.emit.binary("eq", b.emit.view(index, index.shape[:axis] + [1] + index.shape[axis:]),
                         b.emit.view(classes, shape), "int64", "bool")
    on, off = [b.as_type(b.number(one), b.dtype) for one in (on, off)]
    return b.emit.where(same, on, off, b.dtype)


# Out of nothing.

def arange(b, start, end, step, dtype, count):
    args = {"start": start, "end": end, "step": step, "dtype": DType(dtype)}
    return b.emit.node("arange.start_step", args, (dtype, [count]))


@rule("LinSpace")
def linspace(b, start, end, count, *_):
    if b.dtype != "float32":
        raise b.refused(f" of {b.dtype} cannot be captured")
    line = numpy.linspace(b.number(start), b.number(end), b.number(count)).astype(numpy.float32)
    return b.graph.constant("constant", "float32", [len(line)], line.tobytes())


def filled(b, number):
    return b.emit.full(b.spec.shape, b.as_type(number, b.dtype), b.dtype)


rule("NewOnes")(lambda b, *_: filled(b, 1))
rule("NewZeros")(lambda b, *_: filled(b, 0))
rule("FillV2")(lambda b, _, number, *more: filled(b, b.number(number)))


@rule("Eye")
def eye(b, rows, columns, *_):
    args = {"n": b.number(rows), "m": b.number(columns), "dtype": DType(b.dtype)}
    return b.emit.node("eye.m", args, (b.dtype, b.spec.shape))


# Other sizes of an image.

def resize_nearest(b, x, sizes, scales=None):
    x = b.value(x)
    for place, size in enumerate(sizes):
        dim = 2 + place
        ratio = numpy.float32(1 / scales[place] if scales else x.shape[dim] / size)
        places = numpy.floor(numpy.arange(size, dtype=numpy.float32) * ratio).astype(int)
        x = choose(b, x, dim, numpy.minimum(places, x.shape[dim] - 1))
    return x


def resize_linear(b, x, sizes, align, half, scales=None):
    """Between the two nearest along each dimension in turn."""
    x = b.value(x)
    for place, size in enumerate(sizes):
        dim = 2 + place
        count, steps = x.shape[dim], numpy.arange(size, dtype=numpy.float64)
        if align:
            at = steps * ((count - 1) / (size - 1) if size > 1 else 0)
        else:
            ratio = 1 / scales[place] if scales else count / size
            at = numpy.maximum((steps + 0.5) * ratio - 0.5, 0) if half else steps * ratio
        low = numpy.minimum(numpy.floor(at).astype(int), count - 1)
        share = (at - low).astype(numpy.float32).reshape([-1] + [1] * (len(x.shape) - dim - 1))
        weight = b.graph.constant("constant", "float32", share.shape, share.tobytes())
        first, second = choose(b, x, dim, low), choose(b, x, dim, numpy.minimum(low + 1, count - 1))
        x = b.binary("add", first, b.binary("mul", b.binary("sub", second, first), weight))
    return x


@rule("ResizeNearestNeighborV2")
def resize_nearest_v2(b, x, size, align=False, half=False):
    if align or half:
        raise b.refused(" with align_corners or half_pixel_centers cannot be captured")
    return resize_nearest(b, x, b.ints(size))


@rule("ResizeBilinearV2")
def resize_bilinear(b, x, size, align=False, half=False):
    return resize_linear(b, x, b.ints(size), align, half)


@rule("UpsampleNearest2D")
def upsample_nearest(b, x, size=None, scales=None):
    return resize_nearest(b, x, b.spec.shape[2:], scales)


