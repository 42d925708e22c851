"""Views of an array: how to get one from its base, and how to write one back into it.

A step is a small object with forward(emit, base) and back(emit, base, new): the base with the new part in it.
"""


class Slice:
    def __init__(self, dim, start, end, step):
        self.place = (dim, start, end, step)

    def forward(self, emit, base):
        return emit.slice(base, *self.place)

    def back(self, emit, base, new):
        if new.shape == base.shape:
            return new
        dim, start, end, step = self.place
        args = {"self": base, "src": new, "dim": dim, "start": start, "end": max(start, end), "step": step}
        return emit.node("slice_scatter.default", args, (base.dtype, base.shape))


class Flip:
    def __init__(self, dim):
        self.dim = dim

    def forward(self, emit, base):
        return emit.flip(base, [self.dim])

    def back(self, emit, base, new):
        return emit.flip(new, [self.dim])


class Select:
    def __init__(self, dim, index):
        self.dim, self.index = dim, index

    def forward(self, emit, base):
        return emit.select(base, self.dim, self.index)

    def back(self, emit, base, new):
        args = {"self": base, "src": new, "dim": self.dim, "index": self.index}
        return emit.node("select_scatter.default", args, (base.dtype, base.shape))


class Reshape:
    def __init__(self, shape):
        self.shape = list(shape)

    def forward(self, emit, base):
        return emit.view(base, self.shape)

    def back(self, emit, base, new):
        return emit.view(new, base.shape)


class Permute:
    def __init__(self, dims):
        self.dims = list(dims)

    def forward(self, emit, base):
        return emit.permute(base, self.dims)

    def back(self, emit, base, new):
        inverse = [self.dims.index(dim) for dim in range(len(self.dims))]
        return emit.permute(new, inverse)


class Expand:
    """Read-only in numpy."""

    def __init__(self, shape):
        self.shape = list(shape)

    def forward(self, emit, base):
        return emit.expand(base, self.shape)

    def back(self, emit, base, new):
        raise emit.refused("an update in place", "a broadcast array cannot be written")


def basic_steps(shape, key):
    """The steps of indexing with slices, whole numbers, None and ..., and the shape they give; None for other keys."""
    key = list(key) if isinstance(key, tuple) else [key]
    if not all(item is None or item is Ellipsis or isinstance(item, slice) or is_index(item) for item in key):
        return None
    used = sum(1 for item in key if item is not None and item is not Ellipsis)
    if Ellipsis not in [item for item in key if item is None or item is Ellipsis]:
        key.append(Ellipsis)
    place = next(i for i, item in enumerate(key) if item is Ellipsis)
    key[place:place + 1] = [slice(None)] * (len(shape) - used)
    steps, sizes, dim, source = [], [], 0, list(shape)
    axis = 0
    for item in key:
        if item is None:
            sizes.append(1)
            continue
        size = source[axis]
        axis += 1
        if not isinstance(item, slice):
            steps.append(Select(dim, int(item) % size if size else 0))
            continue
        steps += slice_steps(dim, size, item)
        sizes.append(len(range(*item.indices(size))))
        dim += 1
    if None in key:
        steps.append(Reshape(sizes))
    return steps


def slice_steps(dim, size, item):
    start, end, step = item.indices(size)
    if step > 0:
        return [] if (start, step) == (0, 1) and end >= size else [Slice(dim, start, max(start, end), step)]
    count = len(range(start, end, step))
    if not count:
        return [Slice(dim, 0, 0, 1)]
    # Backwards: the same from the other end.
    first = size - 1 - start
    return [Flip(dim)] + ([] if (first, -step, count) == (0, 1, size)
                          else [Slice(dim, first, first + (count - 1) * -step + 1, -step)])


def is_index(item):
    return isinstance(item, int) and not isinstance(item, bool) or (
        hasattr(item, "__index__") and getattr(item, "shape", None) == () and getattr(item, "dtype", None) != bool
        and not hasattr(item, "tracer"))
