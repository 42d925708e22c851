"""Writes numpy's operations as nodes, in the normal form of docs/formats/graph.md.

Every function takes values and gives a value; numpy itself has told the type of the result.
"""

import numpy

from kerf.graph_build import DType, Refused, Value

FLOATS = ("float16", "float32", "float64")


class Emitter:
    """Adds nodes for the line of the task that is running."""

    def __init__(self, graph, source):
        self.graph, self.source = graph, source

    def refused(self, what, detail):
        line, text = self.source.here()
        return Refused(what, detail, line, text)

    def node(self, op, args, *specs):
        """`specs` are (dtype, shape); gives the value, or the values."""
        line, text = self.source.here()
        name = op.split(".")[0]
        try:
            made = self.graph.node("aten." + op, args, [(name, dtype, shape) for dtype, shape in specs], line, text)
        except Refused as error:
            raise self.refused(error.what, error.detail) from error
        return made[0] if len(made) == 1 else made

    # Moves.

    def cast(self, value, dtype):
        if value.dtype == dtype:
            return value
        return self.node("_to_copy.default", {"self": value, "dtype": DType(dtype)}, (dtype, value.shape))

    def view(self, value, shape):
        shape = [int(size) for size in shape]
        if value.shape == shape:
            return value
        return self.node("view.default", {"self": value, "size": shape}, (value.dtype, shape))

    def permute(self, value, dims):
        dims = [int(dim) % len(value.shape) for dim in dims]
        if dims == list(range(len(dims))):
            return value
        return self.node("permute.default", {"self": value, "dims": dims},
                         (value.dtype, [value.shape[dim] for dim in dims]))

    def expand(self, value, shape):
        """Broadcast by numpy's rules."""
        shape = [int(size) for size in shape]
        if value.shape == shape:
            return value
        value = self.view(value, [1] * (len(shape) - len(value.shape)) + value.shape)
        if value.shape == shape:
            return value
        return self.node("expand.default", {"self": value, "size": shape}, (value.dtype, shape))

    def slice(self, value, dim, start, end, step=1):
        count = len(range(start, end, step))
        shape = value.shape[:dim] + [count] + value.shape[dim + 1:]
        if count == value.shape[dim]:
            return value
        args = {"self": value, "dim": dim, "start": start, "end": max(start, end), "step": step}
        return self.node("slice.Tensor", args, (value.dtype, shape))

    def select(self, value, dim, index):
        return self.node("select.int", {"self": value, "dim": dim, "index": index},
                         (value.dtype, value.shape[:dim] + value.shape[dim + 1:]))

    def flip(self, value, dims):
        dims = sorted({dim % len(value.shape) for dim in dims})
        return self.node("flip.default", {"self": value, "dims": dims}, (value.dtype, value.shape)) if dims else value

    def cat(self, values, dim, dtype):
        values = [self.cast(value, dtype) for value in values]
        dim %= len(values[0].shape)
        shape = list(values[0].shape)
        shape[dim] = sum(value.shape[dim] for value in values)
        return self.node("cat.default", {"tensors": values, "dim": dim}, (dtype, shape))

    def full(self, shape, number, dtype):
        number = number.item() if isinstance(number, numpy.generic) else number
        return self.node("full.default", {"size": [int(size) for size in shape], "fill_value": number,
                                          "dtype": DType(dtype)}, (dtype, shape))

    # Element by element.

    def unary(self, name, value, dtype):
        return self.node(f"{name}.default", {"self": self.cast(value, dtype)}, (dtype, value.shape))

    def binary(self, name, left, right, dtype, result=None, **more):
        """`left` and `right` are values or numbers, not both numbers; computed in `dtype`."""
        shapes = [operand.shape for operand in (left, right) if isinstance(operand, Value)]
        shape = list(numpy.broadcast_shapes(*map(tuple, shapes)))
        left, right = [self.cast(operand, dtype) if isinstance(operand, Value) else operand
                       for operand in (left, right)]
        if not isinstance(left, Value) and name in ("add", "mul", "eq", "ne", "maximum", "minimum"):
            left, right = right, left
        if not isinstance(left, Value) and (name not in ("sub", "div", "pow") or "rounding_mode" in more):
            left = self.full([], left, dtype)
        plain = name in ("maximum", "minimum", "atan2", "logical_and", "logical_or", "logical_xor")
        if plain and not isinstance(right, Value):
            right = self.full([], right, dtype)
        number = not isinstance(right, Value)
        overload = "default" if plain else "Scalar" if number and name not in ("add", "sub", "mul", "div") else "Tensor"
        if name == "pow":
            overload = "Tensor_Scalar" if number else "Tensor_Tensor" if isinstance(left, Value) else "Scalar"
        if "rounding_mode" in more:
            overload = "Scalar_mode" if number else "Tensor_mode"
        key = "exponent" if name == "pow" else "other"
        if name in ("add", "sub"):
            more["alpha"] = 1
        return self.node(f"{name}.{overload}", {"self": left, key: right, **more}, (result or dtype, shape))

    def where(self, condition, left, right, dtype):
        condition = self.cast(condition, "bool") if condition.dtype == "bool" else self.binary(
            "ne", condition, 0, condition.dtype, "bool")
        left, right = [self.cast(operand, dtype) if isinstance(operand, Value) else self.full([], operand, dtype)
                       for operand in (left, right)]
        shape = numpy.broadcast_shapes(*(tuple(value.shape) for value in (condition, left, right)))
        return self.node("where.self", {"condition": condition, "self": left, "other": right}, (dtype, list(shape)))

    # Over dimensions.

    def reduce(self, name, value, dims, keepdim, result, **more):
        """`name` is an operation that lists its dimensions: "sum.dim_IntList"."""
        dims = sorted(dim % len(value.shape) for dim in dims) if value.shape else []
        shape = [1 if dim in dims else size for dim, size in enumerate(value.shape)] if keepdim else [
            size for dim, size in enumerate(value.shape) if dim not in dims]
        args = {"self": value, "dim": dims, "keepdim": bool(keepdim), **more}
        return self.node(name, args, (result, shape))

    def matmul(self, left, right, dtype):
        """numpy.matmul: vectors, matrices, and stacks of them."""
        left, right = self.cast(left, dtype), self.cast(right, dtype)
        drop_row, drop_column = len(left.shape) == 1, len(right.shape) == 1
        if drop_row:
            left = self.view(left, [1] + left.shape)
        if drop_column:
            right = self.view(right, right.shape + [1])
        stack = list(numpy.broadcast_shapes(tuple(left.shape[:-2]), tuple(right.shape[:-2])))
        rows, inner, columns = left.shape[-2], left.shape[-1], right.shape[-1]
        if len(right.shape) == 2:  # one matrix for all: one product
            product = self.mm(self.view(left, [int(numpy.prod(stack, dtype=int)) * rows, inner]), right)
        else:
            count = int(numpy.prod(stack, dtype=int))
            left = self.view(self.expand(left, stack + [rows, inner]), [count, rows, inner])
            right = self.view(self.expand(right, stack + [inner, columns]), [count, inner, columns])
            product = self.node("bmm.default", {"self": left, "mat2": right}, (dtype, [count, rows, columns]))
        return self.view(product, stack + ([] if drop_row else [rows]) + ([] if drop_column else [columns]))

    def mm(self, left, right):
        return self.node("mm.default", {"self": left, "mat2": right}, (left.dtype, [left.shape[0], right.shape[1]]))
