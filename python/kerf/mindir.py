"""Reads MindIR, MindSpore's exported graph, into plain Python: nodes, constants, parameters, types.

    export = read(model)           a mind_ir_pb2.ModelProto, or anything with its members
    export = load(text)            what dump(export) wrote: JSON that a person can read, for tests

A constant is a number, a bool, a string, None, a list, a Data (a tensor's bytes) or a Type (an element type).
"""

import base64
import json
import math

# TensorProto.DataType and AttributeProto.AttributeType share their numbers up to here.
DTYPES = {1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 9: "bool", 10: "float16",
          11: "float64", 12: "uint32", 13: "uint64", 14: "complex64", 15: "complex128", 16: "bfloat16", 17: "float64"}
FLOAT, STRING, BOOL, DOUBLE, TENSOR = 1, 8, 9, 11, 17
INTEGERS = (2, 3, 4, 5, 6, 7, 12, 13)
TENSORS, TUPLE, LIST, UMONAD, IOMONAD, NONE, TYPE_NULL = 19, 20, 21, 23, 24, 25, 36


class Unreadable(Exception):
    """The export has something this reader does not know."""


class Spec:
    """The type and shape of a tensor."""

    def __init__(self, dtype, shape):
        self.dtype, self.shape = dtype, list(shape)


class Data(Spec):
    """A constant tensor."""

    def __init__(self, dtype, shape, data):
        super().__init__(dtype, shape)
        self.data = bytes(data)


class Type:
    """An element type as a constant."""

    def __init__(self, name):
        self.name = name


class Monad:
    """A token that orders side effects."""


class Node:
    """`inputs` are names; `result` is a Spec, a list of them, or None where it is no tensor."""

    def __init__(self, name, op, inputs, attributes, result, scope):
        self.name, self.op, self.inputs = name, op, inputs
        self.attributes, self.result, self.scope = attributes, result, scope


class Export:
    def __init__(self, inputs, parameters, constants, nodes, outputs):
        self.inputs = inputs          # [(name, Spec)]
        self.parameters = parameters  # [(name in the graph, name in the model, Spec)]
        self.constants = constants    # {name: value}
        self.nodes = nodes
        self.outputs = outputs        # [name]


# From protocol buffers.

def read(model):
    graph, primitives = model.graph, {primitive.name: primitive for primitive in model.primitives}
    constants, nodes = {}, []
    for node in graph.node:
        if node.op_type == "Constant":
            constants[node.output[0]] = value_of(node.attribute[0])
        else:
            nodes.append(node_of(node, primitives))
    inputs = [(entry.name, spec_of(entry.tensor[0]) if entry.tensor else None) for entry in graph.input]
    parameters = [(entry.name, entry.ref_key or entry.name.split(":", 1)[1], spec_of(entry))
                  for entry in graph.parameter]
    return Export(inputs, parameters, constants, nodes, [entry.name for entry in graph.output])


def node_of(node, primitives):
    name = node.op_type.removeprefix("REF::")
    primitive = primitives.get(name)
    attributes = {}
    if primitive is not None:
        attributes = {entry.name: value_of(entry, lenient=True) for entry in primitive.attribute}
        name = primitive.op_type
    result = next((result_of(entry) for entry in node.attribute if entry.name == "shape"), None)
    # A graph of its own is called by its name, which no primitive has.
    op = name if primitive is not None or not node.op_type.startswith("REF::") else "call " + name
    return Node(node.output[0], op, list(node.input), attributes, result, node.domain)


def spec_of(tensor):
    if tensor.data_type not in DTYPES:
        raise Unreadable(f"a tensor of type {tensor.data_type}")
    return Spec(DTYPES[tensor.data_type], tensor.dims)


def result_of(attribute):
    if attribute.type in (TUPLE, LIST):
        return [result_of(entry) for entry in attribute.values]
    if attribute.type in (TENSOR, TENSORS) and attribute.tensors:
        return spec_of(attribute.tensors[0])
    return None


def value_of(attribute, lenient=False):
    kind = attribute.type
    if kind in (TUPLE, LIST):
        return [item for entry in attribute.values for item in values_of(entry, lenient)]
    items = values_of(attribute, lenient)
    return items[0] if len(items) == 1 else items


def values_of(attribute, lenient):
    """The items a value of a tuple stands for: `ints` holds several at once."""
    kind = attribute.type
    if kind == BOOL:
        return [bool(item) for item in (attribute.ints or [attribute.i])]
    if kind in INTEGERS:
        return [int(item) for item in (attribute.ints or [attribute.i])]
    if kind == FLOAT:
        return [float(item) for item in (attribute.floats or [attribute.f])]
    if kind == DOUBLE:
        return [float(item) for item in (attribute.doubles or [attribute.d])]
    if kind == STRING:
        return [text_of(item) for item in (attribute.strings or [attribute.s])]
    if kind == TENSORS and attribute.tensors and attribute.tensors[0].name != "":
        return [Data(DTYPES[entry.data_type], entry.dims, entry.raw_data) for entry in attribute.tensors]
    if kind in (TUPLE, LIST):
        return [value_of(attribute, lenient)]
    if kind in (UMONAD, IOMONAD):
        return [Monad()]
    if kind in (NONE, TYPE_NULL):
        return [None]
    if kind in (TENSOR, TENSORS) and attribute.tensors:
        return [Type(DTYPES[attribute.tensors[0].data_type])]
    if lenient:
        return [None]
    raise Unreadable(f"a constant of kind {kind}")


def text_of(item):
    return item.decode("utf-8", "replace") if isinstance(item, bytes) else item


# As text.

def dump(export):
    """Constants have one line each, and so have nodes."""
    def lines(items):
        return "[" + ",".join("\n  " + json.dumps(item) for item in items) + "]"

    parts = {"inputs": [[name, plain(spec)] for name, spec in export.inputs],
             "parameters": [[name, own, plain(spec)] for name, own, spec in export.parameters],
             "constants": [[name, plain(value)] for name, value in export.constants.items()],
             "nodes": [[node.name, node.op, node.inputs, {key: plain(item) for key, item in node.attributes.items()},
                        plain(node.result), node.scope] for node in export.nodes], "outputs": export.outputs}
    return "{" + ",\n".join(f'"{key}": {lines(items)}' for key, items in parts.items()) + "}\n"


def load(text):
    parts = json.loads(text)
    return Export([(name, made(spec)) for name, spec in parts["inputs"]],
                  [(name, own, made(spec)) for name, own, spec in parts["parameters"]],
                  {name: made(value) for name, value in parts["constants"]},
                  [Node(name, op, inputs, {key: made(item) for key, item in attributes.items()}, made(result), scope)
                   for name, op, inputs, attributes, result, scope in parts["nodes"]], parts["outputs"])


def plain(value):
    if isinstance(value, Data):
        return {"data": base64.b64encode(value.data).decode("ascii"), "dtype": value.dtype, "shape": value.shape}
    if isinstance(value, Spec):
        return {"dtype": value.dtype, "shape": value.shape}
    if isinstance(value, Type):
        return {"type": value.name}
    if isinstance(value, Monad):
        return {"monad": True}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return {"float": repr(value)} if isinstance(value, float) and not math.isfinite(value) else value


def made(item):
    if isinstance(item, list):
        return [made(one) for one in item]
    if not isinstance(item, dict):
        return item
    if "data" in item:
        return Data(item["dtype"], item["shape"], base64.b64decode(item["data"]))
    if "dtype" in item:
        return Spec(item["dtype"], item["shape"])
    if "monad" in item:
        return Monad()
    return Type(item["type"]) if "type" in item else float(item["float"])
