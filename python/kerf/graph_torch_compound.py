"""Rules for operations torch keeps whole and that a few common ones say as well (graph_torch_rules.py has the others).

torch computes most of these with a kernel of its own and has no decomposition for them, so that a graph would end at
their name.
"""

import math

import torch

from kerf.graph_build import Refused

aten = torch.ops.aten
OWN = {}
CAUGHT = {}
# So many boundaries are compared one by one; more are searched by halves.
MOST_COMPARED = 64


def rule(name, which="default"):
    def add(function):
        operation = getattr(getattr(aten, name, None), which, None)
        if operation is not None:
            OWN[operation] = function
        return function
    return add


def caught(*functions):
    def add(function):
        CAUGHT.update((one, function) for one in functions)
        return function
    return add


def along(size, dim, rank):
    """0, 1, 2 … in one dimension, to be broadcast over the others."""
    return torch.arange(size).reshape([-1 if place == dim else 1 for place in range(rank)])


# Writing a part: functionalized updates end here.

@rule("copy")
def copy(self, src, non_blocking=False):
    return src.to(self.dtype).expand(self.shape)


@caught(torch.Tensor.fill_diagonal_)
def fill_diagonal(self, fill_value, wrap=False):
    """torch cannot follow this one's memory; it can follow a diagonal's."""
    if self.dim() != 2 or wrap:
        raise Refused("an update in place", "fill_diagonal_ of what is no matrix, or with wrap=True")
    self.diagonal().fill_(fill_value)
    return self


@rule("diagonal_scatter")
def diagonal_scatter(self, src, offset=0, dim1=0, dim2=1):
    dim1, dim2 = dim1 % self.dim(), dim2 % self.dim()
    row, column = along(self.shape[dim1], dim1, self.dim()), along(self.shape[dim2], dim2, self.dim())
    place = torch.arange(self.shape[dim1]) + min(offset, 0)
    spread = src.index_select(-1, place.clamp(0, max(src.shape[-1] - 1, 0)))
    spread = spread.movedim(-1, dim1 - (dim2 < dim1)).unsqueeze(dim2)
    return torch.where(column - row == offset, spread.to(self.dtype), self)


@rule("as_strided")
def as_strided(self, size, stride, storage_offset=None):
    """Of a tensor that fills its memory row by row, and within it."""
    start = 0 if storage_offset is None else storage_offset - self.storage_offset()
    places = torch.full((), start)
    for dim, (count, step) in enumerate(zip(size, stride)):
        places = places + along(count, dim, len(size)) * step
    within = not places.numel() or 0 <= int(places.min()) and int(places.max()) < self.numel()
    if not self.is_contiguous() or not within:
        return NotImplemented
    return self.reshape(-1).index_select(0, places.reshape(-1)).reshape(size)


@rule("masked_scatter")
def masked_scatter(self, mask, source):
    shape = torch.broadcast_shapes(self.shape, mask.shape)
    mask = mask.expand(shape)
    place = mask.reshape(-1).to(torch.int64).cumsum(0) - 1
    taken = source.reshape(-1)[place.clamp(0, max(source.numel() - 1, 0))]
    return torch.where(mask, taken.reshape(shape).to(self.dtype), self)


@rule("scatter_reduce", "two")
def scatter_reduce(self, dim, index, src, reduce, *, include_self=True):
    """What starts from nothing starts from what changes nothing; a mean is a sum and a count."""
    if not include_self:
        limits = torch.finfo(self.dtype) if self.is_floating_point() else torch.iinfo(self.dtype)
        least, most = (-math.inf, math.inf) if self.is_floating_point() else (limits.min, limits.max)
        neutral = {"sum": 0, "mean": 0, "prod": 1, "amax": least, "amin": most}[reduce]
        self = torch.scatter(self, dim, index, neutral)
    elif reduce != "mean":
        return NotImplemented
    if reduce != "mean":
        return torch.scatter_reduce(self, dim, index, src, reduce)
    ones = torch.full(src.shape, 1, dtype=self.dtype)
    start = torch.full(self.shape, 1 if include_self else 0, dtype=self.dtype)
    count = torch.clamp(torch.scatter_add(start, dim, index, ones), min=1)
    total = torch.scatter_add(self, dim, index, src)
    return total / count if self.is_floating_point() else torch.div(total, count, rounding_mode="floor")


# Places in an order.

@rule("searchsorted", "Tensor")
def searchsorted(sorted_sequence, self, *, out_int32=False, right=False, side=None, sorter=None):
    right = right or side == "right"
    if sorter is not None:
        sorted_sequence = sorted_sequence.gather(-1, sorter)
    size = sorted_sequence.shape[-1]
    flat = sorted_sequence.dim() == 1

    def before(edge):
        return torch.logical_not(edge > self if right else edge >= self)

    if size <= MOST_COMPARED:
        edges = sorted_sequence if flat else sorted_sequence.unsqueeze(-2)
        value = self.unsqueeze(-1)
        smaller = torch.logical_not(edges > value if right else edges >= value)
        place = smaller.to(torch.int64).sum(-1)
    else:
        place = torch.zeros(self.shape, dtype=torch.int64)
        step = 1 << (size.bit_length() - 1)
        while step:
            ahead = place + step
            last = torch.clamp(ahead - 1, max=size - 1)
            edge = sorted_sequence[last] if flat else sorted_sequence.gather(-1, last)
            place = torch.where((ahead <= size) & before(edge), ahead, place)
            step //= 2
    return place.to(torch.int32) if out_int32 else place


@rule("bucketize", "Tensor")
def bucketize(self, boundaries, *, out_int32=False, right=False):
    return searchsorted(boundaries, self, out_int32=out_int32, right=right)


def kth(self, dim, keepdim, place):
    """The sorted pair at `place`, a function of how many are numbers; places are the same in one row."""
    values, indices = torch.sort(self, dim=dim, stable=True)
    where = place(values)
    pair = values.gather(dim, where), indices.gather(dim, where)
    return pair if keepdim else tuple(one.squeeze(dim) for one in pair)


def numbers_in(values, dim):
    return torch.logical_not(torch.isnan(values)).to(torch.int64).sum(dim, keepdim=True)


@rule("kthvalue")
def kthvalue(self, k, dim=-1, keepdim=False):
    if not self.dim():
        return self.clone(), torch.zeros((), dtype=torch.int64)
    values, indices = torch.sort(self, dim=dim, stable=True)
    pair = [aten.slice(one, dim % self.dim(), k - 1, k) for one in (values, indices)]
    return tuple(pair) if keepdim else tuple(one.squeeze(dim) for one in pair)


@rule("median", "dim")
def median(self, dim=-1, keepdim=False):
    if not self.dim() or not self.is_floating_point():
        return kthvalue(self, (self.shape[dim] + 1) // 2 if self.dim() else 1, dim, keepdim)
    size = self.shape[dim]

    def place(values):
        count = numbers_in(values, dim)
        return torch.where(count < size, count, (size - 1) // 2)
    return kth(self, dim, keepdim, place)


@rule("nanmedian", "dim")
def nanmedian(self, dim=-1, keepdim=False):
    if not self.dim() or not self.is_floating_point():
        return kthvalue(self, (self.shape[dim] + 1) // 2 if self.dim() else 1, dim, keepdim)
    return kth(self, dim, keepdim, lambda values: torch.clamp(numbers_in(values, dim) - 1, min=0) // 2)


@rule("median")
def median_of_all(self):
    return median(self.reshape(-1), 0)[0]


@rule("nanmedian")
def nanmedian_of_all(self):
    return nanmedian(self.reshape(-1), 0)[0]


def cumulative(name, keeps):
    """cummax, cummin: the place of the last that was as good. Places nobody asks for are dropped later."""
    def with_places(self, dim):
        if not self.dim():
            return getattr(torch, name)(self, dim)
        best = getattr(aten, name).default(self, dim)[0]
        better = keeps(self, best)
        if self.is_floating_point():
            better = better | torch.isnan(self)
        places = torch.where(better, along(self.shape[dim], dim % self.dim(), self.dim()), 0)
        return getattr(torch.return_types, name)((best, aten.cummax.default(places, dim)[0]))
    CAUGHT[getattr(torch, name)] = CAUGHT[getattr(torch.Tensor, name)] = with_places


cumulative("cummax", lambda one, best: one >= best)
cumulative("cummin", lambda one, best: one <= best)


@rule("histc")
def histc(self, bins=100, min=0, max=0):
    flat = self.reshape(-1)
    if min == max == 0:
        low, high = flat.amin(), flat.amax()
        same = low == high
        low, high = torch.where(same, low - 1, low), torch.where(same, high + 1, high)
    else:
        low, high = (torch.full((), float(edge), dtype=self.dtype) for edge in (min, max))
    place = ((flat - low) * bins / (high - low)).to(torch.int64).clamp(0, bins - 1)
    inside = ((flat >= low) & (flat <= high)).to(self.dtype)
    return torch.zeros(bins, dtype=self.dtype).scatter_add(0, place, inside)


# Products and distances.

@caught(torch.nn.functional.bilinear, torch.bilinear)
def bilinear(input1, input2, weight, bias=None):
    rows = input1.shape[:-1]
    left, right = input1.reshape(-1, input1.shape[-1]), input2.reshape(-1, input2.shape[-1])
    outputs, first, second = weight.shape
    half = torch.mm(left, weight.permute(1, 0, 2).reshape(first, outputs * second)).reshape(-1, outputs, second)
    result = torch.bmm(half, right.unsqueeze(2)).reshape(*rows, outputs)
    return result if bias is None else result + bias


@rule("dist")
def dist(self, other, p=2):
    return torch.linalg.vector_norm(self - other, p)


@rule("_pdist_forward")
def pdist(self, p=2):
    rows, columns = torch.triu_indices(self.shape[0], self.shape[0], 1)
    return torch.linalg.vector_norm(self.index_select(0, rows) - self.index_select(0, columns), p, -1)


@caught(torch.vander)
def vander(x, N=None, increasing=False):
    count = x.shape[0] if N is None else N
    base = x.to(torch.int64) if x.dtype == torch.bool else x
    ones = torch.full((*x.shape, 1), 1, dtype=base.dtype)
    powers = torch.cat([ones, base.unsqueeze(-1).expand(*x.shape, max(count - 1, 0))], -1)[..., :count].cumprod(-1)
    return powers if increasing else powers.flip(-1)


# Tables.

@caught(torch.nn.functional.embedding_bag)
def embedding_bag(input, weight, offsets=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, mode="mean",
                  sparse=False, per_sample_weights=None, include_last_offset=False, padding_idx=None):
    if max_norm is not None or input.dim() == 1 and (mode == "max" or offsets is None):
        raise Refused("an operation", "embedding_bag with max_norm, or the maximum of bags of different sizes")
    rows = torch.nn.functional.embedding(input, weight)
    counts = torch.full(input.shape, 1.0, dtype=weight.dtype)
    if padding_idx is not None:
        padding_idx %= weight.shape[0]
        counts = torch.where(input == padding_idx, 0.0, counts)
        rows = torch.where((input == padding_idx).unsqueeze(-1), -math.inf if mode == "max" else 0.0, rows)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(-1)
    if input.dim() == 2:
        if mode == "max":
            most = rows.amax(1)
            return torch.where(most == -math.inf, 0.0, most)
        total, count = rows.sum(1), counts.sum(1)
    else:
        bags = offsets.shape[0] - bool(include_last_offset)
        bag = searchsorted(offsets[:bags], torch.arange(input.shape[0], dtype=offsets.dtype), right=True) - 1
        total = torch.zeros(bags, weight.shape[1], dtype=weight.dtype).index_add(0, bag, rows)
        count = torch.zeros(bags, dtype=weight.dtype).index_add(0, bag, counts)
    return total if mode == "sum" else total / torch.clamp(count, min=1).unsqueeze(-1)


# Losses and numbers.

@caught(torch.nn.functional.gaussian_nll_loss)
def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    """torch looks first whether a variance is negative."""
    if not isinstance(var, torch.Tensor):
        var = torch.full_like(input, var)
    if var.dim() == input.dim() - 1:
        var = var.unsqueeze(-1)
    var = torch.clamp(var, min=eps)
    loss = 0.5 * (torch.log(var) + (input - target) ** 2 / var)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return loss if reduction == "none" else loss.mean() if reduction == "mean" else loss.sum()


@rule("ldexp", "Tensor")
def ldexp(self, other):
    return self * torch.pow(2.0, other)


@rule("digamma")
def digamma(self):
    """The recurrence up to 10, then the series; the reflection for what is negative."""
    if self.dtype in (torch.float16, torch.bfloat16) or not self.is_floating_point():
        wide = digamma(self.to(torch.float32))
        return wide.to(self.dtype) if self.is_floating_point() else wide
    reflected = self <= 0
    x = torch.where(reflected, 1 - self, self).to(torch.float64)
    total = torch.zeros_like(x)
    for step in range(10):
        total = total - 1 / (x + step)
    x = x + 10
    inverse = 1 / (x * x)
    series = 0.0
    for term in (691 / 32760, -1 / 132, 1 / 240, -1 / 252, 1 / 120, -1 / 12):
        series = (series + term) * inverse
    total = total + torch.log(x) - 0.5 / x + series
    whole = self.to(torch.float64)
    turn = math.pi / torch.tan(math.pi * (whole - torch.floor(whole)))
    negative = torch.where(whole == torch.floor(whole), math.nan, total - turn)
    result = torch.where(reflected, negative, total)
    return torch.where(self == 0, torch.copysign(torch.full_like(result, -math.inf), -whole), result).to(self.dtype)


@rule("multilabel_margin_loss_forward")
def multilabel_margin_loss(self, target, reduction):
    """Of the labels before the first -1; torch's own decomposition counts the places after it as label 0."""
    rows, labels = self.reshape(-1, self.shape[-1]), target.reshape(-1, target.shape[-1])
    size = rows.shape[1]
    places = torch.arange(size)
    given = places < torch.where(labels == -1, places, size).amin(1, keepdim=True)
    is_label = (torch.where(given, labels, -1).unsqueeze(2) == places).any(1)
    chosen = rows.gather(1, torch.where(given, labels, 0))
    margins = ((1 - chosen).unsqueeze(2) + rows.unsqueeze(1)).clamp(min=0)
    counts = given.unsqueeze(2) & is_label.logical_not().unsqueeze(1)
    losses = torch.where(counts, margins, 0).sum((1, 2)) / size
    if reduction:
        losses = losses.mean() if reduction == 1 else losses.sum()
    elif self.dim() < 2:
        losses = losses.reshape([])
    return losses, is_label.to(self.dtype).reshape(target.shape)


def antialiased(operation):
    """Antialiased resizing is a matrix for each of the two dimensions; torch itself makes them."""
    def matrix(size, wanted, align_corners, scale):
        image = torch.eye(size).reshape(1, 1, size, size)
        return operation(image, [wanted, size], align_corners, scale, None).reshape(wanted, size)

    def resize(input, output_size, align_corners, scales_h=None, scales_w=None):
        if input.shape[:2] == (1, 1) and input.shape[-1] == output_size[-1]:
            return NotImplemented  # it is one of the two matrices
        rows = matrix(input.shape[-2], output_size[0], align_corners, scales_h)
        columns = matrix(input.shape[-1], output_size[1], align_corners, scales_w)
        wide = input if input.dtype == torch.float64 else input.to(torch.float32)
        return torch.matmul(rows.to(wide.dtype), torch.matmul(wide, columns.t().to(wide.dtype))).to(input.dtype)
    OWN[operation] = resize


antialiased(aten._upsample_bilinear2d_aa.default)
antialiased(aten._upsample_bicubic2d_aa.default)
