"""A call that differs from another in one element (docs/formats/reference.md, "Twins")."""

import math
import random
import struct

# How much is looked at before a tensor is taken for one without order.
LOOKS = 4096
FORMATS = {"float16": "<e", "float32": "<f", "float64": "<d", "bfloat16": None}
ITEM = {"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8}


class Values:
    """The elements of a float tensor, by flat index, in bytes of its own."""

    def __init__(self, dtype, shape, buffer):
        self.dtype, self.shape, self.size = dtype, shape, ITEM[dtype]
        self.bytes = bytearray(memoryview(buffer).cast("B"))
        self.count = len(self.bytes) // self.size

    def raw(self, index):
        return bytes(self.bytes[index * self.size : (index + 1) * self.size])

    def __getitem__(self, index):
        if self.dtype == "bfloat16":
            return struct.unpack("<f", b"\0\0" + self.raw(index))[0]
        return struct.unpack(FORMATS[self.dtype], self.raw(index))[0]

    def packed(self, number):
        """Its bytes as an element."""
        if self.dtype == "bfloat16":
            return struct.pack("<f", number)[2:]
        return struct.pack(FORMATS[self.dtype], number)

    def replace(self, target, raw):
        self.bytes[target * self.size : (target + 1) * self.size] = raw


def has_order(values):
    """Whether rows rise or fall, or the tensor is a symmetric matrix: something a kernel may rely on."""
    row = values.shape[-1] if values.shape and values.shape[-1] > 2 else values.count
    pairs = [(i - 1, i) for i in range(1, min(values.count, LOOKS)) if i % row]
    if all(values[a] <= values[b] for a, b in pairs) or all(values[a] >= values[b] for a, b in pairs):
        return True
    if len(values.shape) < 2 or values.shape[-2] != values.shape[-1] or row != values.shape[-1]:
        return False
    matrix = range(min(row * row, LOOKS))
    return all(values[i] == values[i % row * row + i // row] for i in matrix)


def is_continuous(values):
    """Whether the elements look drawn from a range, not from a few values or from the integers."""
    looked = range(min(values.count, LOOKS))
    if len({values.raw(i) for i in looked}) <= len(looked) / 2:
        return False
    return not all(math.isfinite(values[i]) and values[i].is_integer() for i in looked)


def change_one(values, rng):
    """Gives one element of the middle half another value; False when all are alike.

    The first and the last values stay: a kernel that recognises its inputs looks there first. The new value lies
    halfway to another element's, so that it stays in their range; it is that element's own where only some values may
    be allowed. Elsewhere that would bring a tie, and the places of equal elements in a sorted row are anybody's."""
    halfway = is_continuous(values)
    for _ in range(64):
        target = values.count // 4 + rng.randrange(max(1, values.count // 2))
        source = rng.randrange(values.count)
        raw, middle = values.raw(source), values[source] / 2 + values[target] / 2
        if halfway and (not math.isfinite(middle) or (raw := values.packed(middle)) == values.raw(source)):
            continue
        if raw != values.raw(target):
            values.replace(target, raw)
            return True
    return False


def draw(framework, call, seed):
    """A twin of the call, or None when no input can be changed without harm."""
    rng = random.Random(seed)
    leaves = [value for _, value in call.leaves(framework)]
    floats = [i for i, leaf in enumerate(leaves) if framework.is_tensor(leaf) and framework.dtype(leaf) in ITEM]
    rng.shuffle(floats)
    for i in floats:
        values = Values(framework.dtype(leaves[i]), framework.shape(leaves[i]), framework.buffer(leaves[i]))
        if values.count < 8 or has_order(values) or not change_one(values, rng):
            continue
        leaves[i] = framework.from_buffer(values.dtype, values.shape, memoryview(values.bytes))
        return call.with_leaves(framework, leaves)
    return None
