"""The normal form of a graph: one way to write each thing (docs/formats/graph.md, "Normal form").

Views are aten.view.default, casts are nodes of their own, dimensions count from the front, reductions name theirs.
"""

import torch

from kerf.framework_torch import SUPPORTED
from kerf.graph_build import DType, Value

VIEWS = {"aten.view.default", "aten._unsafe_view.default", "aten.reshape.default", "aten.unsqueeze.default",
         "aten.squeeze.default", "aten.squeeze.dim", "aten.squeeze.dims", "aten._reshape_copy.default",
         "aten.view_copy.default", "aten.unsqueeze_copy.default", "aten.squeeze_copy.dims"}
# Tensors of one number.
LIKE = {"aten.full_like.default": lambda args: args["fill_value"], "aten.zeros_like.default": lambda args: 0,
        "aten.ones_like.default": lambda args: 1, "aten.scalar_tensor.default": lambda args: args["s"],
        "aten.full.default": lambda args: args["fill_value"], "aten.zeros.default": lambda args: 0,
        "aten.ones.default": lambda args: 1, "aten.fill.Scalar": lambda args: args["value"]}
# The other operand may be a number or a tensor.
WITH_NUMBER = {f"aten.{name}.Scalar": f"aten.{name}.Tensor" for name in ("add", "sub", "mul", "div")}
# Reductions of everything, by the name of the one that lists its dimensions.
WHOLE = {"aten.sum.default": "aten.sum.dim_IntList", "aten.mean.default": "aten.mean.dim",
         "aten.max.default": "aten.amax.default", "aten.min.default": "aten.amin.default",
         "aten.any.default": "aten.any.dims", "aten.all.default": "aten.all.dims", "aten.any.dim": "aten.any.dims",
         "aten.all.dim": "aten.all.dims"}
LISTED = {"aten.sum.dim_IntList", "aten.mean.dim", "aten.amax.default", "aten.amin.default", "aten.any.dims",
          "aten.all.dims", "aten.var.correction"}
# Their result has the type in which they compute.
ACCUMULATING = {"aten.sum.dim_IntList", "aten.mean.dim", "aten.prod.default", "aten.prod.dim_int",
                "aten.cumsum.default", "aten.cumprod.default", "aten._softmax.default", "aten._log_softmax.default"}
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
# Any operand is true or false by itself.
LOGICAL = ("logical_and", "logical_or", "logical_xor", "logical_not", "isnan", "isinf", "sign", "signbit")


def data_of(tensor):
    """The bytes of a small tensor."""
    tensor = tensor.detach().to_dense() if tensor.layout != torch.strided else tensor.detach()
    tensor = tensor.contiguous().reshape(-1)
    return tensor.view(torch.uint8).numpy().tobytes() if tensor.numel() else b""


def add(graph, op, args, outputs, line, text, pointwise):
    """Adds the node, or what says the same. `outputs` is [(name, dtype, shape)]; returns the values."""
    form = Form(graph, line, text)
    return form.add(op, dict(args), outputs, pointwise)


class Form:
    def __init__(self, graph, line, text):
        self.graph, self.line, self.text = graph, line, text

    def emit(self, op, args, outputs):
        return self.graph.node(op, args, outputs, self.line, self.text)

    def cast(self, value, dtype):
        if value.dtype == dtype:
            return value
        return self.emit("aten._to_copy.default", {"self": value, "dtype": DType(dtype)},
                         [("cast", dtype, value.shape)])[0]

    def add(self, op, args, outputs, pointwise):
        _, dtype, shape = outputs[0]
        shape = list(shape)
        first = args.get("self")
        if op in VIEWS:
            return [first] if first.shape == shape else self.emit(
                "aten.view.default", {"self": first, "size": shape}, outputs)
        if op in ("aten.expand.default", "aten.permute.default", "aten.slice.Tensor", "aten._to_copy.default"):
            return self._move(op, args, outputs)
        if op in LIKE:
            return self.emit("aten.full.default", {"size": shape, "fill_value": LIKE[op](args), "dtype": DType(dtype)},
                             outputs)
        op = WITH_NUMBER.get(op, op)
        self._count_from_front(op, args)
        op = self._reduction(op, args)
        if op in ACCUMULATING:
            args["self"] = self.cast(first, dtype)
            args.update({name: value for name, value in (("dtype", None), ("half_to_float", False)) if name in args})
        elif op in ("aten.any.dims", "aten.all.dims") and first.dtype != "bool":
            args["self"] = self.emit("aten.ne.Scalar", {"self": first, "other": 0},
                                     [("ne", "bool", first.shape)])[0]
        elif pointwise:
            self._promote(op, args, dtype)
        elif op == "aten.cat.default":
            args["tensors"] = [self.cast(value, dtype) for value in args["tensors"]]
        elif "dtype" in args and first is None:
            args["dtype"] = DType(dtype)  # a tensor made from nothing
        return self.emit(op, args, outputs)

    def _move(self, op, args, outputs):
        source, (_, dtype, shape) = args["self"], outputs[0]
        shape = list(shape)
        if op == "aten.expand.default":
            same, args = source.shape == shape, {"self": source, "size": shape}
        elif op == "aten.permute.default":
            rank = len(source.shape)
            dims = [dim % rank for dim in args["dims"]]
            same, args = dims == list(range(rank)), {"self": source, "dims": dims}
        elif op == "aten.slice.Tensor":
            dim = args["dim"] % len(source.shape)
            start, end, step = slice(args["start"], args["end"], args["step"]).indices(source.shape[dim])
            same, args = source.shape == shape, {"self": source, "dim": dim, "start": start, "end": max(start, end),
                                                 "step": step}
        else:
            same, args = source.dtype == dtype, {"self": source, "dtype": DType(dtype)}
        return [source] if same else self.emit(op, args, outputs)

    @staticmethod
    def _count_from_front(op, args):
        source = args.get("self")
        if source is None and "tensors" in args:
            source = args["tensors"][0]
        if not isinstance(source, Value):
            return
        rank = max(1, len(source.shape))
        for name in ("dim", "dims", "dim1", "dim2"):
            given = args.get(name)
            if isinstance(given, int) and not isinstance(given, bool) and op != "aten.unsqueeze.default":
                args[name] = given % rank
            elif isinstance(given, list):
                args[name] = [dim % rank for dim in given]

    @staticmethod
    def _reduction(op, args):
        op = WHOLE.get(op, op)
        if op in LISTED:
            rank = len(args["self"].shape)
            dims = args.get("dim")
            dims = [dims] if isinstance(dims, int) else list(dims or range(rank))
            args["dim"] = sorted(dim for dim in dims if dim < rank)
            args["keepdim"] = bool(args.get("keepdim"))
            if op == "aten.var.correction":
                args["correction"] = 1 if args.get("correction") is None else args["correction"]
        return op

    def _promote(self, op, args, dtype):
        """Every tensor of a pointwise operation has the type in which it is computed."""
        name = op.split(".")[1]
        if name in LOGICAL:
            return
        tensors = [key for key, value in args.items() if isinstance(value, Value) and key not in ("condition", "mask")]
        if name in COMPARISONS:
            common = common_type([args[key] for key in ("self", "other")])
        elif name.startswith("bitwise") and "shift" in name:
            return
        else:
            common = dtype
        for key in tensors:
            args[key] = self.cast(args[key], common)


def common_type(operands):
    """torch's own promotion: dimensions count, so that shapes stand for the tensors."""
    samples = [torch.empty([0] * len(operand.shape), dtype=SUPPORTED[operand.dtype])
               if isinstance(operand, Value) else operand for operand in operands]
    samples = [torch.zeros((), dtype=sample.dtype) if isinstance(sample, torch.Tensor) and not sample.dim()
               else sample for sample in samples]
    result = torch.result_type(*samples)
    return next(name for name, dtype in SUPPORTED.items() if dtype == result)


class Read:
    """Tensors whose values are known, for graph_fold.py."""

    @staticmethod
    def nbytes(tensor):
        return tensor.numel() * tensor.element_size()

    data = staticmethod(data_of)

    @staticmethod
    def uniform(tensor):
        flat = tensor.detach().contiguous().reshape(-1)
        same = flat.view(torch.uint8).reshape(flat.numel(), -1) == flat[:1].view(torch.uint8)
        return flat[0].item() if bool(same.all()) else None


def simplify(graph):
    """A maximum whose place nobody asks for."""
    needed = graph.drop_dead()
    for node in graph.nodes:
        name = {"aten.max.dim": "aten.amax.default", "aten.min.dim": "aten.amin.default"}.get(node.op)
        if name and id(node.outputs[1]) not in needed:
            node.op, node.outputs = name, node.outputs[:1]
            node.args["dim"] = [node.args["dim"]] if node.args["self"].shape else []
