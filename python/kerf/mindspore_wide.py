"""Primitives for which MindSpore has no float64 on the CPU, computed with numpy where the float64 oracle needs them."""

import contextlib
import itertools
import math

import mindspore
import numpy
from mindspore.ops import operations


def spans(kernel, dilation):
    return [step * (size - 1) + 1 for size, step in zip(kernel, dilation)]


def pads_of(primitive, sizes, reach, stride):
    """[before, after] of each dimension of an image of these sizes."""
    mode = str(primitive.pad_mode).lower()
    if mode == "valid":
        return [[0, 0]] * len(sizes)
    if mode == "pad":
        pads = primitive.pad
        return [list(pads[2 * i:2 * i + 2]) for i in range(len(sizes))]
    totals = [max((math.ceil(size / step) - 1) * step + window - size, 0)
              for size, window, step in zip(sizes, reach, stride)]
    return [[total // 2, total - total // 2] for total in totals]


def places(offset, dilation, stride, counts):
    """Where the elements lie that one element of the kernel meets."""
    return tuple(slice(at * grow, at * grow + (count - 1) * step + 1, step)
                 for at, grow, step, count in zip(offset, dilation, stride, counts))


def settings(primitive, rank):
    return list(primitive.stride)[-rank:], list(primitive.dilation)[-rank:], primitive.group


def convolve(primitive, x, weight):
    rank = x.ndim - 2
    stride, dilation, groups = settings(primitive, rank)
    reach = spans(weight.shape[2:], dilation)
    pads = pads_of(primitive, x.shape[2:], reach, stride)
    x = numpy.pad(x, [[0, 0], [0, 0], *pads])
    counts = [(size - window) // step + 1 for size, window, step in zip(x.shape[2:], reach, stride)]
    filters, channels = weight.shape[:2]
    found = numpy.zeros([x.shape[0], filters, *counts])
    share = filters // groups
    for offset in itertools.product(*map(range, weight.shape[2:])):
        part = x[(slice(None), slice(None), *places(offset, dilation, stride, counts))]
        for group in range(groups):
            factor = weight[(slice(group * share, (group + 1) * share), slice(None), *offset)]
            product = numpy.tensordot(factor, part[:, group * channels:(group + 1) * channels], ([1], [1]))
            found[:, group * share:(group + 1) * share] += numpy.moveaxis(product, 0, 1)
    return found


def convolve_back(primitive, x, weight, shape):
    """The transposed one, whose result has that shape."""
    rank = x.ndim - 2
    stride, dilation, groups = settings(primitive, rank)
    sizes = [int(size) for size in shape][-rank:]
    reach = spans(weight.shape[2:], dilation)
    pads = pads_of(primitive, sizes, reach, stride)
    whole = [max((size - 1) * step + window, before + out) for size, step, window, (before, _), out in zip(
        x.shape[2:], stride, reach, pads, sizes)]
    channels, share = x.shape[1] // groups, weight.shape[1]
    found = numpy.zeros([x.shape[0], share * groups, *whole])
    for offset in itertools.product(*map(range, weight.shape[2:])):
        where = places(offset, dilation, stride, x.shape[2:])
        for group in range(groups):
            own = slice(group * channels, (group + 1) * channels)
            product = numpy.tensordot(weight[(own, slice(None), *offset)], x[:, own], ([0], [1]))
            found[(slice(None), slice(group * share, (group + 1) * share), *where)] += numpy.moveaxis(product, 0, 1)
    return found[(slice(None), slice(None), *[slice(before, before + out) for (before, _), out in zip(pads, sizes)])]


def batch_norm(primitive, x, weight, bias, mean, variance):
    if primitive.is_training:
        raise TypeError("no float64 for a batch norm in training mode")
    shape = [1, -1] + [1] * (x.ndim - 2)
    scale = weight / numpy.sqrt(variance + primitive.epsilon)
    return (x - mean.reshape(shape)) * scale.reshape(shape) + bias.reshape(shape), mean, variance, mean, variance


def lp_norm(primitive, x):
    axis = primitive.axis
    axis = tuple(axis) if isinstance(axis, (list, tuple)) else (axis,)
    return numpy.sum(numpy.abs(x)**primitive.p, axis=axis, keepdims=primitive.keep_dims)**(1 / primitive.p)


WIDE = {operations.Conv2D: convolve, operations.Conv3D: convolve, operations.Conv2DTranspose: convolve_back,
        operations.Conv2DBackpropInput: convolve_back, operations.BatchNorm: batch_norm, operations.LpNorm: lp_norm}


def replaced(kind, compute):
    """A __call__ that computes with numpy what is float64."""
    before = kind.__call__

    def call(primitive, *args):
        if not any(isinstance(one, mindspore.Tensor) and one.dtype == mindspore.float64 for one in args[:2]):
            return before(primitive, *args)
        arrays = [one.asnumpy() if isinstance(one, mindspore.Tensor) else one for one in args]
        found = compute(primitive, *arrays)
        return tuple(map(tensor_of, found)) if isinstance(found, tuple) else tensor_of(found)

    return call


def tensor_of(array):
    return mindspore.Tensor(numpy.ascontiguousarray(array))


@contextlib.contextmanager
def wide_primitives():
    """Until the block ends."""
    own = {kind: kind.__dict__.get("__call__") for kind in WIDE}
    for kind, compute in WIDE.items():
        kind.__call__ = replaced(kind, compute)
    try:
        yield
    finally:
        for kind, call in own.items():
            if call is None:
                del kind.__call__
            else:
                kind.__call__ = call
