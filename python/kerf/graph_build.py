"""Collects a graph of docs/formats/graph.md: values, nodes, what goes in and what comes out.

    graph = GraphBuilder()
    x = graph.input("input0", "float32", [4, 8], {"source": "inputs", "index": 0})
    (y,) = graph.node("aten.relu.default", {"self": x}, [("relu", "float32", [4, 8])], 12, "return torch.relu(x)")
    graph.outputs = [y]
    document = graph.document()
"""

import base64
import math

# Larger tensors made in the module would have to stand in the kernel's source.
MOST_CONSTANT_BYTES = 1 << 20
MOST_NODES = 20000

DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float8_e4m3fn",
          "float8_e5m2", "float16", "bfloat16", "float32", "float64")


class Refused(Exception):
    """The task cannot be captured. `what` is a few words, `detail` a sentence."""

    def __init__(self, what, detail="", line=0, text=""):
        super().__init__(f"{what}: {detail}" if detail else what)
        self.what, self.detail, self.line, self.text = what, detail, line, text

    def document(self):
        return {"format": "kerf.graph", "version": 1,
                "refused": {"what": self.what, "line": self.line, "text": self.text, "detail": self.detail[:2000]}}


class DType:
    """An element type as an argument of a node."""

    def __init__(self, name):
        self.name = name


class Value:
    """One tensor of the graph. `known` is the framework's own tensor where no input has a part in it."""

    def __init__(self, name, dtype, shape, known=None):
        self.name, self.dtype, self.shape, self.known = name, dtype, list(shape), known


class Node:
    def __init__(self, op, args, outputs, line, text):
        self.op, self.args, self.outputs, self.line, self.text = op, args, outputs, line, text


def values_in(argument):
    """The values an argument names."""
    if isinstance(argument, Value):
        return [argument]
    if isinstance(argument, (list, tuple)):
        return [value for item in argument for value in values_in(item)]
    return []


class GraphBuilder:
    def __init__(self):
        self.inputs = []   # (value, entry)
        self.nodes = []
        self.outputs = []

    def input(self, name, dtype, shape, entry):
        value = self._value(name, dtype, shape)
        self.inputs.append((value, entry))
        return value

    def constant(self, name, dtype, shape, data, known=None):
        """A tensor that is neither input nor parameter; `data` is its bytes."""
        if len(data) > MOST_CONSTANT_BYTES:
            raise Refused("a large constant", f"the task makes a tensor of {len(data)} bytes that is neither input nor "
                          f"parameter; at most {MOST_CONSTANT_BYTES} can stand in a kernel's source")
        value = self._value(name, dtype, shape)
        value.known = known
        self.inputs.append((value, {"source": "constant", "data": base64.b64encode(bytes(data)).decode("ascii")}))
        return value

    def node(self, op, args, outputs, line=0, text=""):
        """`outputs` is [(name, dtype, shape)]; returns their values."""
        if len(self.nodes) >= MOST_NODES:
            raise Refused("a long graph", f"more than {MOST_NODES} operations; a loop over elements?", line, text)
        made = [self._value(name, dtype, shape) for name, dtype, shape in outputs]
        self.nodes.append(Node(op, args, made, line, text))
        return made

    @staticmethod
    def _value(name, dtype, shape):
        if dtype not in DTYPES:
            raise Refused("an element type", f"tensors of {dtype} cannot be captured")
        return Value(name, dtype, [int(size) for size in shape])

    def drop_dead(self):
        """Removes nodes whose results nobody uses, and constants that are then left over."""
        needed = {id(value) for value in self.outputs}
        kept = []
        for node in reversed(self.nodes):
            if any(id(value) in needed for value in node.outputs):
                kept.append(node)
                needed.update(id(value) for argument in node.args.values() for value in values_in(argument))
        self.nodes = kept[::-1]
        self.inputs = [(value, entry) for value, entry in self.inputs
                       if entry["source"] != "constant" or id(value) in needed]
        return needed

    def merge_twins(self):
        """Of nodes that compute the same, the first stays."""
        first, same = {}, {}

        def resolve(argument):
            if isinstance(argument, list):
                return [resolve(item) for item in argument]
            return same.get(id(argument), argument) if isinstance(argument, Value) else argument

        kept = []
        for node in self.nodes:
            node.args = {name: resolve(argument) for name, argument in node.args.items()}
            twin = first.setdefault((node.op, key_of(node.args)), node)
            if twin is node:
                kept.append(node)
            else:
                same.update((id(value), other) for value, other in zip(node.outputs, twin.outputs))
        self._merged = self.nodes  # keeps the values alive, whose addresses are keys
        self.nodes, self.outputs = kept, [resolve(value) for value in self.outputs]

    def document(self, **members):
        """The JSON object. Values are numbered in the order in which they come to be."""
        self.merge_twins()
        needed = self.drop_dead()
        numbers, values = {}, []

        def number(value):
            numbers[id(value)] = len(values)
            values.append({"name": value.name, "dtype": value.dtype, "shape": value.shape})
            return numbers[id(value)]

        inputs = [{"value": number(value), **entry} for value, entry in self.inputs]
        nodes = []
        for node in self.nodes:
            args = {name: encode(argument, numbers) for name, argument in node.args.items()}
            outputs = [number(value) if id(value) in needed else None for value in node.outputs]
            nodes.append({"op": node.op, "args": args, "outputs": outputs, "line": node.line, "text": node.text})
        return {"format": "kerf.graph", "version": 1, **members, "values": values, "inputs": inputs, "nodes": nodes,
                "outputs": [numbers[id(value)] for value in self.outputs]}


def key_of(argument):
    """Equal for equal arguments; 1, 1.0 and True are not equal."""
    if isinstance(argument, dict):
        return tuple((name, key_of(item)) for name, item in argument.items())
    if isinstance(argument, (list, tuple)):
        return tuple(key_of(item) for item in argument)
    if isinstance(argument, DType):
        return ("dtype", argument.name)
    return ("value", id(argument)) if isinstance(argument, Value) else (type(argument).__name__, repr(argument))


def encode(argument, numbers):
    """An argument as JSON."""
    if isinstance(argument, Value):
        return {"value": numbers[id(argument)]}
    if isinstance(argument, DType):
        return {"dtype": argument.name}
    if isinstance(argument, (list, tuple)):
        return [encode(item, numbers) for item in argument]
    if isinstance(argument, float) and not math.isfinite(argument):
        return {"float": "nan" if math.isnan(argument) else ("inf" if argument > 0 else "-inf")}
    if argument is None or isinstance(argument, (bool, int, float, str)):
        return argument
    raise Refused("an argument", f"a {type(argument).__name__} cannot be written into a graph")
