"""Inputs of sizes the task does not show, made from those it shows (docs/formats/reference.md, "Hidden shapes")."""

import math
import random


class NoHiddenShape(Exception):
    """The task does not allow other sizes; the text says why."""


def symbols_of(shapes):
    """The dimensions that differ between variants.

    shapes[v][t] is the shape of tensor t in variant v. Returns {sizes over the variants: [(tensor, axis)]}:
    dimensions with the same sizes everywhere are one symbol.
    """
    if len(shapes) < 2:
        raise NoHiddenShape("one variant shows no other size")
    if len({tuple(len(shape) for shape in variant) for variant in shapes}) != 1:
        raise NoHiddenShape("variants differ in the number of tensors or dimensions")
    symbols = {}
    for tensor, first in enumerate(shapes[0]):
        for axis in range(len(first)):
            sizes = tuple(variant[tensor][axis] for variant in shapes)
            if len(set(sizes)) > 1:
                symbols.setdefault(sizes, []).append((tensor, axis))
    if not symbols:
        raise NoHiddenShape("all variants have the same shapes")
    return symbols


def choose_size(sizes, rng):
    """An odd size between the least and the greatest, new where there is one."""
    low, high = min(sizes), max(sizes)
    odd = range(low | 1, high + 1, 2)
    if len(odd) > 10000:
        fresh = [odd[rng.randrange(len(odd))] for _ in range(16)]
        fresh = [size for size in fresh if size not in sizes]
    else:
        fresh = [size for size in odd if size not in sizes]
    return rng.choice(fresh) if fresh else rng.choice([size for size in sizes])


def nearest(symbols, chosen, variants):
    """The variant whose sizes are closest to the chosen ones, by ratio."""
    def distance(variant):
        return sum(abs(math.log((sizes[variant] + 1) / (chosen[sizes] + 1))) for sizes in symbols)
    return min(range(variants), key=distance)


def draw(framework, calls, seed):
    """A call with hidden shapes, and the variant it is like."""
    leaves = [[value for _, value in call.leaves(framework)] for call in calls]
    if len({len(variant) for variant in leaves}) != 1:
        raise NoHiddenShape("variants differ in the number of inputs")
    tensors = [i for i, value in enumerate(leaves[0]) if framework.is_tensor(value)]
    if any(framework.is_tensor(variant[i]) != (i in tensors) for variant in leaves for i in range(len(variant))):
        raise NoHiddenShape("variants differ in which inputs are tensors")
    symbols = symbols_of([[framework.shape(variant[i]) for i in tensors] for variant in leaves])
    rng = random.Random(seed)
    chosen = {sizes: choose_size(sizes, rng) for sizes in symbols}
    like = nearest(symbols, chosen, len(calls))
    shapes = [framework.shape(leaves[like][i]) for i in tensors]
    for sizes, places in symbols.items():
        for tensor, axis in places:
            shapes[tensor][axis] = chosen[sizes]
    framework.seed(seed)
    new = list(leaves[like])
    for i, value in enumerate(new):
        if i in tensors:
            new[i] = framework.draw_like(value, shapes[tensors.index(i)])
        elif isinstance(value, int) and not isinstance(value, bool):
            # A size given as a number as well.
            new[i] = chosen.get(tuple(variant[i] for variant in leaves), value)
    return calls[like].with_leaves(framework, new), like
