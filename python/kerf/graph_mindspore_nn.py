"""MindSpore's primitives of neural networks: norms, convolutions, pooling, losses."""

import math

import numpy

from kerf.graph_mindspore_build import rule
from kerf.graph_mindspore_shape import pad_constant

# Norms. Statistics they give beside the result are not captured: None, refused where somebody uses it.

@rule("LayerNorm")
def layer_norm(b, x, gamma, beta, begin=1, begin_parameters=1, eps=1e-7):
    x = b.value(x)
    begin %= len(x.shape)
    gamma, beta = [b.value(one, x.dtype) for one in (gamma, beta)]
    if gamma.shape == x.shape[begin:]:
        return [normalized(b, x, x.shape[begin:], gamma, beta, eps), None, None]
    begin_parameters %= len(x.shape)
    shape = x.shape[begin_parameters:]
    plain = normalized(b, x, x.shape[begin:], None, None, eps)
    scaled = b.binary("mul", plain, b.emit.view(gamma, shape))
    return [b.binary("add", scaled, b.emit.view(beta, shape)), None, None]


def normalized(b, x, shape, weight, bias, eps):
    args = {"input": x, "normalized_shape": shape, "weight": weight, "bias": bias, "eps": eps}
    kept = x.shape[:len(x.shape) - len(shape)] + [1] * len(shape)
    return b.emit.node("native_layer_norm.default", args, (x.dtype, x.shape), ("float32", kept), ("float32", kept))[0]


@rule("BatchNorm")
def batch_norm(b, x, weight, bias, mean, variance, training=False, eps=1e-5, momentum=0.1, *_):
    if training:
        raise b.refused(" in training mode changes its running statistics", "batch statistics")
    x, weight, bias, mean, variance = map(b.value, (x, weight, bias, mean, variance))
    args = {"input": x, "weight": weight, "bias": bias, "running_mean": mean, "running_var": variance,
            "momentum": momentum, "eps": eps}
    found = b.emit.node("_native_batch_norm_legit_no_training.default", args, (x.dtype, x.shape), ("float32", [0]),
                        ("float32", [0]))
    return [found[0], None, None, None, None]


@rule("GroupNorm")
def group_norm(b, x, groups, weight=None, bias=None, eps=1e-5):
    x = b.value(x)
    weight, bias = [None if one is None else b.value(one, x.dtype) for one in (weight, bias)]
    groups, count, channels = b.number(groups), x.shape[0], x.shape[1]
    args = {"input": x, "weight": weight, "bias": bias, "N": count, "C": channels, "HxW": math.prod(x.shape[2:]),
            "group": groups, "eps": eps}
    return [b.emit.node("native_group_norm.default", args, (x.dtype, x.shape), (x.dtype, [count, groups]),
                        (x.dtype, [count, groups]))[0], None, None]


# Convolutions. Pads are [before, after] of each dimension.

def pairs_of(sizes):
    return [list(sizes[2 * i:2 * i + 2]) for i in range(len(sizes) // 2)]


def backwards(pads):
    return [size for pair in reversed(pads) for size in pair]


def convolve(b, x, weight, stride, pads, dilation, groups):
    x, weight = b.value(x), b.value(weight)
    if any(before != after for before, after in pads):
        x, pads = pad_constant(b, x, backwards(pads), 0), [[0, 0]] * len(pads)
    args = {"input": x, "weight": weight, "bias": None, "stride": list(stride),
            "padding": [before for before, _ in pads], "dilation": list(dilation), "transposed": False,
            "output_padding": [0] * len(pads), "groups": groups}
    return b.emit.node("convolution.default", args, (b.dtype, b.spec.shape))


def convolve_back(b, x, weight, stride, pads, dilation, groups):
    """The transposed one. Where the pads differ it is made whole and cut."""
    x, weight = b.value(x), b.value(weight)
    window = [step * (size - 1) + 1 for size, step in zip(weight.shape[2:], dilation)]
    sizes = b.spec.shape[2:]
    whole = [(size - 1) * step + wide for size, step, wide in zip(x.shape[2:], stride, window)]
    extra = [size - (full - sum(pair)) for size, full, pair in zip(sizes, whole, pads)]
    even = all(before == after for before, after in pads) and all(
        0 <= more < max(step, grow) for more, step, grow in zip(extra, stride, dilation))
    args = {"input": x, "weight": weight, "bias": None, "stride": list(stride),
            "padding": [before if even else 0 for before, _ in pads], "dilation": list(dilation), "transposed": True,
            "output_padding": extra if even else [0] * len(pads), "groups": groups}
    shape = b.spec.shape[:2] + (sizes if even else whole)
    found = b.emit.node("convolution.default", args, (b.dtype, shape))
    if even:
        return found
    for place, (before, _) in enumerate(pads):
        if before + sizes[place] > whole[place]:
            raise b.refused(" of this size cannot be captured")
        found = b.emit.slice(found, 2 + place, before, before + sizes[place])
    return found


def attributes_of(b, count):
    if b.attribute("format", "NCHW") not in ("NCHW", "NCDHW"):
        raise b.refused(f" with the layout {b.attribute('format')} cannot be captured")
    stride = list(b.attribute("strides") or b.attribute("stride"))[-count:]
    dilation = list(b.attribute("dilations") or b.attribute("dilation"))[-count:]
    return stride, pairs_of(b.attribute("pad_list")), dilation, b.attribute("group", 1)


@rule("Conv2D", "Conv3D")
def conv(b, x, weight):
    return convolve(b, x, weight, *attributes_of(b, len(b.spec.shape) - 2))


@rule("Conv2DTranspose", "Conv2DBackpropInput", "Conv3DTranspose")
def conv_transposed(b, x, weight, *_):
    return convolve_back(b, x, weight, *attributes_of(b, len(b.spec.shape) - 2))


# Pooling.

def same_pads(sizes, kernel, stride):
    """What pad_mode "same" adds: less in front where the number is odd."""
    pads = []
    for size, window, step in zip(sizes, kernel, stride):
        total = max((math.ceil(size / step) - 1) * step + window - size, 0)
        pads.append([total // 2, total - total // 2])
    return pads


def max_pool(b, x, kernel, stride, pads, dilation=None, ceil=False):
    """[values, places]."""
    x, count = b.value(x), len(kernel)
    if any(before != after or 2 * before > window for (before, after), window in zip(pads, kernel)):
        x, pads = pad_constant(b, x, backwards(pads), -math.inf), [[0, 0]] * count
    shape = b.spec.shape
    args = {"self": x, "kernel_size": list(kernel), "stride": list(stride), "padding": [before for before, _ in pads],
            "dilation": list(dilation or [1] * count), "ceil_mode": bool(ceil)}
    return b.emit.node(f"max_pool{count}d_with_indices.default", args, (x.dtype, shape), ("int64", shape))


def avg_pool(b, x, kernel, stride, pads, ceil=False, with_pads=True, divisor=None):
    x, count = b.value(x), len(kernel)
    if any(before != after for before, after in pads):
        return uneven_mean(b, x, kernel, stride, pads, with_pads or ceil)
    args = {"self": x, "kernel_size": list(kernel), "stride": list(stride), "padding": [before for before, _ in pads],
            "ceil_mode": bool(ceil), "count_include_pad": bool(with_pads)}
    if count > 1:
        args["divisor_override"] = divisor or None
    return b.emit.node(f"avg_pool{count}d.default", args, (x.dtype, b.spec.shape))


def uneven_mean(b, x, kernel, stride, pads, unknown):
    """The mean of a padded image, corrected by how many elements are its own."""
    if unknown or x.dtype != "float32":
        raise b.refused(" with uneven padding cannot be captured")
    shares = numpy.ones([1] * len(kernel))
    for place, (window, step, (before, _)) in enumerate(zip(kernel, stride, pads)):
        size, result = x.shape[2 + place], b.spec.shape[2 + place]
        starts = numpy.arange(result) * step - before
        own = numpy.minimum(starts + window, size) - numpy.maximum(starts, 0)
        shares = shares * (window / own).reshape([-1 if dim == place else 1 for dim in range(len(kernel))])
    mean = avg_pool(b, pad_constant(b, x, backwards(pads), 0), kernel, stride, [[0, 0]] * len(pads))
    shares = shares.astype(numpy.float32)
    return b.binary("mul", mean, b.graph.constant("constant", "float32", shares.shape, shares.tobytes()))


def mode_pads(b, x, mode, kernel, stride):
    mode = {0: "PAD", 1: "SAME", 2: "VALID"}.get(mode, str(mode).upper())
    if mode == "SAME":
        return same_pads(b.value(x).shape[2:], kernel, stride)
    return pairs_of(b.attribute("pad_list") or b.attribute("pad") or [0] * (2 * len(kernel))) if mode == "PAD" else [
        [0, 0]] * len(kernel)


@rule("MaxPool", "MaxPool3D")
def max_pool_old(b, x):
    count = len(b.spec.shape) - 2
    kernel, stride = b.attribute("kernel_size")[-count:], b.attribute("strides")[-count:]
    pads = mode_pads(b, x, b.attribute("pad_mode"), kernel, stride)
    return max_pool(b, x, kernel, stride, pads, None, b.attribute("ceil_mode") in (1, True))[0]


@rule("MaxPoolWithArgmaxV2", "MaxPool3DWithArgmax")
def max_pool_places(b, x):
    count = len(b.spec.shape) - 2
    kernel = (b.attribute("kernel_size") or b.attribute("ksize"))[-count:]
    pads = [[size, size] for size in b.attribute("pads")[-count:]]
    found, place = max_pool(b, x, kernel, b.attribute("strides")[-count:], pads, b.attribute("dilation")[-count:],
                            b.attribute("ceil_mode"))
    return [found, b.emit.cast(place, b.node.result[1].dtype)]


@rule("AvgPool")
def avg_pool_old(b, x, kernel, stride, mode=2, *_):
    kernel, stride = b.ints(kernel)[-2:], b.ints(stride)[-2:]
    return avg_pool(b, x, kernel, stride, mode_pads(b, x, mode, kernel, stride), with_pads=False)


@rule("AvgPool3D")
def avg_pool_3d(b, x):
    kernel, stride = b.attribute("kernel_size")[-3:], b.attribute("strides")[-3:]
    return avg_pool(b, x, kernel, stride, pairs_of(b.attribute("pad_list")), b.attribute("ceil_mode"),
                    b.attribute("count_include_pad", True), b.attribute("divisor_override"))


@rule("AdaptiveAvgPool2D", "AdaptiveAvgPool3D")
def adaptive_mean(b, x, *_):
    x = b.value(x)
    count = int(b.node.op.removeprefix("AdaptiveAvgPool")[0])
    sizes = b.spec.shape[-count:]
    if all(size == 1 for size in sizes):
        dims = list(range(len(x.shape) - count, len(x.shape)))
        return b.emit.reduce("mean.dim", x, dims, True, x.dtype, dtype=None)
    return b.emit.node(f"_adaptive_avg_pool{count}d.default", {"self": x, "output_size": sizes}, (x.dtype, b.spec.shape))


@rule("AdaptiveMaxPool2D", "AdaptiveMaxPool3D")
def adaptive_max(b, x, *_):
    x = b.value(x)
    count = int(b.node.op.removeprefix("AdaptiveMaxPool")[0])
    args = {"self": x, "output_size": b.spec.shape[-count:]}
    found, _ = b.emit.node(f"adaptive_max_pool{count}d.default", args, (x.dtype, b.spec.shape), ("int64", b.spec.shape))
    return [found, None] if isinstance(b.node.result, list) else found


# Losses.

REDUCTIONS = {0: "sum", 1: "mean", 2: "none"}


def reduced(b, loss, reduction):
    reduction = REDUCTIONS.get(reduction, reduction)
    if reduction == "none":
        return loss
    if reduction not in ("sum", "mean", "batchmean"):
        raise b.refused(f" with the reduction {reduction!r} cannot be captured")
    dims = list(range(len(loss.shape)))
    if reduction == "mean":
        return b.emit.reduce("mean.dim", loss, dims, False, loss.dtype, dtype=None)
    total = b.emit.reduce("sum.dim_IntList", loss, dims, False, loss.dtype, dtype=None)
    return total if reduction == "sum" else b.binary("div", total, loss.shape[0])


@rule("SmoothL1Loss")
def smooth_l1_loss(b, x, target, beta=1.0, reduction=2):
    apart = b.unary("abs", b.binary("sub", x, target))
    near = b.binary("div", b.binary("mul", b.binary("mul", apart, apart), 0.5), beta)
    close = b.binary("lt", apart, beta, b.dtype, "bool")
    return reduced(b, b.emit.where(close, near, b.binary("sub", apart, 0.5 * beta), b.dtype), reduction)


@rule("KLDivLoss")
def kl_div(b, x, target):
    target = b.value(target, b.dtype)
    positive = b.binary("gt", target, 0, b.dtype, "bool")
    loss = b.binary("mul", target, b.binary("sub", b.unary("log", target), x))
    return reduced(b, b.emit.where(positive, loss, 0.0, b.dtype), b.attribute("reduction", "mean"))


@rule("BinaryCrossEntropy")
def binary_cross_entropy(b, x, target, weight=None, reduction=1):
    x, target = b.value(x, b.dtype), b.value(target, b.dtype)
    hit = b.binary("mul", target, b.unary("log", b.binary("add", x, 1e-12)))
    rest = b.unary("log", b.binary("add", b.binary("sub", 1.0, x), 1e-12))
    loss = b.unary("neg", b.binary("add", hit, b.binary("mul", b.binary("sub", 1.0, target), rest)))
    return reduced(b, loss if weight is None else b.binary("mul", loss, weight), reduction)


@rule("BCEWithLogitsLoss")
def bce_with_logits(b, x, target, weight=None, positive=None, reduction=1):
    x, target = b.value(x, b.dtype), b.value(target, b.dtype)
    tail = b.unary("log1p", b.unary("exp", b.unary("neg", b.unary("abs", x))))
    soft = b.binary("add", tail, b.binary("maximum", b.unary("neg", x), 0))
    if positive is not None:
        more = b.binary("mul", b.binary("sub", b.value(positive, b.dtype), 1.0), target)
        soft = b.binary("mul", b.binary("add", more, 1.0), soft)
    loss = b.binary("add", b.binary("mul", b.binary("sub", 1.0, target), x), soft)
    return reduced(b, loss if weight is None else b.binary("mul", loss, weight), reduction)


@rule("NLLLoss")
def nll_loss(b, x, target, weight, reduction=1, ignored=-100):
    """[loss, the sum of the weights]."""
    x, target, weight = b.value(x), b.value(target, "int64"), b.value(weight)
    if len(x.shape) != 2:
        raise b.refused(" of more than rows cannot be captured")
    counts = b.binary("ne", target, ignored, "int64", "bool")
    places = b.emit.where(counts, target, 0, "int64")
    args = {"self": x, "dim": 1, "index": b.emit.view(places, [x.shape[0], 1]), "sparse_grad": False}
    chosen = b.emit.view(b.emit.node("gather.default", args, (x.dtype, [x.shape[0], 1])), [x.shape[0]])
    share = b.emit.node("index_select.default", {"self": weight, "dim": 0, "index": places}, (weight.dtype, places.shape))
    share = b.emit.where(counts, share, 0.0, x.dtype)
    loss, total = b.unary("neg", b.binary("mul", chosen, share)), reduced(b, share, "sum")
    if REDUCTIONS.get(reduction, reduction) == "mean":
        return [b.binary("div", reduced(b, loss, "sum"), total), total]
    return [reduced(b, loss, reduction), total]


def log_softmax(b, x):
    args = {"self": x, "dim": len(x.shape) - 1, "half_to_float": False}
    return b.emit.node("_log_softmax.default", args, (x.dtype, x.shape))


@rule("SparseSoftmaxCrossEntropyWithLogits")
def sparse_cross_entropy(b, x, labels):
    if b.attribute("is_grad"):
        raise b.refused(" with is_grad cannot be captured")
    x, labels = b.value(x), b.value(labels, "int64")
    args = {"self": log_softmax(b, x), "dim": 1, "index": b.emit.view(labels, [x.shape[0], 1]), "sparse_grad": False}
    chosen = b.emit.node("gather.default", args, (x.dtype, [x.shape[0], 1]))
    return reduced(b, b.unary("neg", chosen), "mean")


@rule("SoftmaxCrossEntropyWithLogits")
def cross_entropy(b, x, labels):
    x = b.value(x)
    product = b.binary("mul", log_softmax(b, x), labels)
    return [b.unary("neg", b.emit.reduce("sum.dim_IntList", product, [1], False, x.dtype, dtype=None)), None]


