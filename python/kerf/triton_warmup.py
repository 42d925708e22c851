"""Makes Triton's interpreter ready: what it builds on its first launch, and looks up again on every one, is then there
for every fork."""

import inspect

import torch
import triton
import triton.language as tl
from triton.runtime import interpreter


@triton.jit
def row_kernel(x, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    value = tl.load(x + row * columns + i, mask=i < columns, other=0.0)
    total = tl.sum(tl.exp(value - tl.max(value, axis=0)), axis=0)
    tl.store(y + row * columns + i, tl.where(value > 0, value / total, value), mask=i < columns)


def remember_builtins():
    """The interpreter replaces the builtins of triton.language at every launch, and again at every call of tl.max and its
    kind, and finds them by looking at each attribute of four modules and classes: two fifths of the time of a small kernel.
    Which attributes may be builtins does not change, so that they are found once; those that appeared since are looked at
    as well, and whether one is a builtin now is asked every time."""
    language = interpreter.tl
    remembered = {}
    for owner in (language, language.core, language.tensor, language.math, language.core.tensor_descriptor_base):
        members = inspect.getmembers(owner)
        builtins = [name for name, member in members if language.core.is_builtin(member)]
        remembered[owner] = ({name for name, _ in members}, builtins)
    original, is_builtin, patch_attr = interpreter._patch_builtin, language.core.is_builtin, interpreter._patch_attr

    def patch_builtin(owner, *rest):
        if owner not in remembered:
            return original(owner, *rest)
        known, builtins = remembered[owner]
        for name in builtins + [name for name in vars(owner) if name not in known]:
            member = getattr(owner, name, None)
            if is_builtin(member):
                patch_attr(owner, name, member, *rest)

    interpreter._patch_builtin = patch_builtin


def run():
    try:
        remember_builtins()
    except AttributeError:
        pass  # another version of Triton, which does it in another way
    x = torch.ones(2, 8)
    row_kernel[(2,)](x, torch.empty_like(x), 8, BLOCK=8)
