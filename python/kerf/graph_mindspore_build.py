"""From MindSpore's exported graph (mindir.py) to the graph of docs/formats/graph.md, node by node.

Each of MindSpore's primitives has a rule: a function of the Builder and the primitive's inputs. An input is a Value, a
mindir.Data (a constant tensor), a number, a string, None or a list of these. A rule gives a Value, or a list of them
for a primitive with several results. The shapes and types MindSpore inferred are held against what the rule gave.
"""

import math
import struct

from kerf import mindir
from kerf.graph_build import Refused, Value
from kerf.graph_numpy_emit import Emitter

RULES = {}

# They write into their first input.
UPDATES = {"InplaceAddExt", "InplaceAddsExt", "InplaceSubExt", "InplaceSubScalar", "InplaceMul", "InplaceMuls", "InplaceDiv",
           "InplaceDivs"}
# Give what they get.
CARRIES = ("Load", "Depend", "Contiguous", "TensorToScalar", "TensorMove", "MakeTuple", "make_list", "TupleGetItem",
           "list_getitem", "Reshape", "ExpandDims", "Squeeze", "Flatten", "FlattenExt", "ViewAs")
CONTROL_FLOW = {"Switch", "SwitchLayer", "Partial", "switch", "partial", "while_loop", "Cond"}
RANDOM = {"Dropout", "DropoutExt", "Dropout2D", "Dropout3D", "DropoutDoMask", "DropoutGenMask", "StandardNormal",
          "StandardLaplace", "UniformReal", "UniformInt", "UniformExt", "UniformCandidateSampler", "Randperm",
          "RandpermV2", "RandpermExt", "RandInt", "RandExt", "RandnExt", "RandLikeExt", "RandnLike", "RandIntLike",
          "Multinomial", "MultinomialExt", "Bernoulli", "BernoulliExt", "Normal", "NormalTensorTensor",
          "NormalTensorFloat", "NormalFloatTensor", "NormalFloatFloat", "Gamma", "Poisson", "RandomPoisson",
          "ParameterizedTruncatedNormal", "TruncatedNormal", "RandomChoiceWithMask", "Exponential"}
FLOAT_RANK = {"float16": 1, "bfloat16": 1, "float32": 2, "float64": 3}
INTEGER_RANK = {"bool": 0, "uint8": 1, "int8": 1, "uint16": 2, "int16": 2, "uint32": 3, "int32": 3, "uint64": 4, "int64": 4}
UNPACK = {"bool": "?", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I", "int64": "q",
          "uint64": "Q", "float16": "e", "float32": "f", "float64": "d"}


def rule(*names):
    def add(function):
        RULES.update((name, function) for name in names)
        return function
    return add


def numbers_in(data):
    """The elements of a constant tensor."""
    if data.dtype == "bfloat16":
        bits = struct.unpack(f"<{len(data.data) // 2}H", data.data)
        return [struct.unpack("<f", struct.pack("<I", word << 16))[0] for word in bits]
    if data.dtype not in UNPACK:
        raise Refused("an element type", f"tensors of {data.dtype} cannot be captured")
    size = struct.calcsize(UNPACK[data.dtype])
    return list(struct.unpack(f"<{len(data.data) // size}{UNPACK[data.dtype]}", data.data))


def is_uniform(data):
    count = math.prod(data.shape)
    size = len(data.data) // count if count else 0
    return count > 1 and data.data == data.data[:size] * count


def common_type(types):
    """The type to which MindSpore promotes: floating point before integers, then the wider one."""
    floats = [name for name in types if name in FLOAT_RANK]
    if floats:
        best = max(floats, key=FLOAT_RANK.get)
        mixed = {"float16", "bfloat16"} <= set(floats)
        return "float32" if mixed and FLOAT_RANK[best] == 1 else best
    best = max(types, key=lambda name: INTEGER_RANK.get(name, 9))
    peers = {name for name in types if INTEGER_RANK.get(name) == INTEGER_RANK.get(best)}
    return {1: "int16", 2: "int32"}.get(INTEGER_RANK.get(best), "int64") if len(peers) > 1 else best


class Builder:
    """`lines` is {scope of a node: (line, text)}."""

    def __init__(self, graph, export, lines):
        self.graph, self.export, self.lines = graph, export, lines
        self.emit = Emitter(graph, self)
        self.known = {}    # by name
        self.tensors = {}  # constant tensors, by the address of their Data
        self.node = None

    # What rules use.

    def here(self):
        return self.lines.get(self.node.scope, (0, "")) if self.node is not None else (0, "")

    def refused(self, detail, what="an operation"):
        line, text = self.here()
        return Refused(what, f"MindSpore's {self.node.op}{detail}", line, text)

    def attribute(self, name, default=None):
        return self.node.attributes.get(name, default)

    @property
    def spec(self):
        """The type and shape of the node's first result, as MindSpore has them."""
        result = self.node.result
        return result[0] if isinstance(result, list) else result

    @property
    def dtype(self):
        return self.spec.dtype

    def value(self, given, dtype=None):
        """`given` as a tensor, in that type when one is named."""
        if isinstance(given, mindir.Data):
            given = self._constant(given)
        elif not isinstance(given, Value):
            if isinstance(given, bool) or not isinstance(given, (int, float)):
                raise self.refused(f" with {given!r} for a tensor")
            dtype = dtype or ("float32" if isinstance(given, float) else "int64")
            return self.emit.full([], self.as_type(given, dtype), dtype)
        return given if dtype is None else self.emit.cast(given, dtype)

    def _constant(self, data):
        if id(data) not in self.tensors:
            if is_uniform(data) or (data.shape == [] and data.data):
                made = self.emit.full(data.shape, numbers_in(data)[0], data.dtype)
            else:
                made = self.graph.constant("constant", data.dtype, data.shape, data.data)
            self.tensors[id(data)] = made
        return self.tensors[id(data)]

    def operand(self, given):
        """A tensor, or a number where it is one."""
        if isinstance(given, mindir.Data) and given.shape == []:
            return numbers_in(given)[0]
        return given if isinstance(given, (bool, int, float)) else self.value(given)

    def number(self, given):
        given = self.operand(given)
        if isinstance(given, Value):
            raise self.refused(" with a tensor where a number is expected")
        return given

    def ints(self, given):
        """A list of whole numbers, from a number, a list or a constant tensor."""
        if isinstance(given, mindir.Data):
            given = numbers_in(given)
        given = given if isinstance(given, list) else [given]
        items = [self.number(item) for item in given]
        if not all(isinstance(item, int) for item in items):
            raise self.refused(f" with {items} for whole numbers")
        return items

    @staticmethod
    def as_type(number, dtype):
        if dtype == "bool":
            return bool(number)
        return float(number) if dtype in FLOAT_RANK else int(number)

    def common(self, *operands):
        types = [one.dtype for one in operands if isinstance(one, Value)]
        if all(name not in FLOAT_RANK for name in types) and any(isinstance(one, float) for one in operands):
            types.append("float32")
        return common_type(types)

    def binary(self, name, left, right, dtype=None, result=None, **more):
        dtype = dtype or self.dtype
        left, right = [one if isinstance(one, Value) else self.as_type(one, dtype)
                       for one in map(self.operand, (left, right))]
        return self.emit.binary(name, left, right, dtype, result, **more)

    def unary(self, name, given, dtype=None):
        return self.emit.unary(name, self.value(given), dtype or self.dtype)

    def dims(self, value, axis):
        """The dimensions an axis argument names: none means all."""
        rank = len(value.shape)
        axes = [] if axis is None else self.ints(axis)
        return sorted({one % rank for one in axes}) if axes and rank else list(range(rank))

    # The graph.

    def bind(self, name, thing):
        self.known[name] = thing

    def lookup(self, name):
        if name in self.known:
            return self.known[name]
        if name in self.export.constants:
            return self.export.constants[name]
        if self.node.op in CONTROL_FLOW:
            return None  # names a graph
        raise self.refused(f": its input {name} is not in the export")

    def run(self):
        for self.node in self.export.nodes:
            if any(dynamic(spec) for spec in specs_in(self.node.result)):
                raise self.refused(": the shape of its result is known only afterwards", "a shape that depends on data")
            self.known[self.node.name] = self.apply()
        self.node = None
        found = []
        for name in self.export.outputs:
            flatten(self.known[name] if name in self.known else self.export.constants.get(name), found)
        self.graph.outputs = [one if isinstance(one, Value) else self.value(one) for one in found]

    def apply(self):
        node = self.node
        if node.op in CONTROL_FLOW or node.op.startswith("call "):
            raise self.refused(": what the task does next depends on the values of a tensor", "data-dependent control flow")
        if node.op in RANDOM:
            raise self.refused(" draws other numbers in each run", "random numbers")
        if node.op in UPDATES and not self.is_fresh(node.inputs[0]):
            raise self.refused(" writes into a tensor that something else uses too", "an update in place")
        if node.op not in RULES:
            if node.op.startswith(("Inplace", "Assign", "ScatterNd")):
                raise self.refused(" writes into one of its inputs", "an update in place")
            raise self.refused(" cannot be captured")
        inputs = [self.lookup(name) for name in node.inputs]
        inputs = [one for one in inputs if not isinstance(one, mindir.Monad)]
        try:
            made = RULES[node.op](self, *inputs)
        except TypeError as error:
            if "argument" not in str(error):
                raise
            raise self.refused(f" as it is called here: {error}") from error
        self.check(made, node.result)
        return made

    def is_fresh(self, name):
        """Whether a node made this tensor, and nobody but the node at work uses it: then an update is a new value."""
        maker = next((node for node in self.export.nodes if node.name == name), None)
        if maker is None or maker.op in CARRIES or maker.op.endswith("View"):
            return False
        users = [node for node in self.export.nodes if name in node.inputs and node.op != "UpdateState"]
        return users == [self.node] and self.node.inputs.count(name) == 1 and name not in self.export.outputs

    def check(self, made, result):
        if isinstance(result, list) and isinstance(made, list):
            for one, spec in zip(made, result):
                self.check(one, spec)
        elif isinstance(made, Value) and isinstance(result, mindir.Spec):
            if (made.dtype, made.shape) != (result.dtype, result.shape):
                raise self.refused(f": came out as {made.dtype}{made.shape}, where MindSpore has {result.dtype}{result.shape}")


def specs_in(result):
    if isinstance(result, list):
        return [spec for one in result for spec in specs_in(one)]
    return [] if result is None else [result]


def dynamic(spec):
    return any(size < 0 for size in spec.shape)


def flatten(thing, found):
    if isinstance(thing, list):
        for item in thing:
            flatten(item, found)
    elif thing is not None:
        found.append(thing)


# What carries values along.

@rule("Load", "Depend", "Contiguous", "TensorToScalar", "TensorMove")
def same(b, given, *_):
    return b.value(given) if isinstance(given, mindir.Data) else given


@rule("UpdateState")
def order(b, *_):
    return mindir.Monad()


@rule("MakeTuple", "make_list")
def together(b, *items):
    return list(items)


@rule("TupleGetItem", "list_getitem")
def item(b, items, index):
    return items[index]
