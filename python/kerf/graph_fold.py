"""Turns what no input has a part in into data, or into a fill where all elements are alike.

`read` is the framework's: read.nbytes(known), read.data(known), read.uniform(known): the one number, or None.
"""

from kerf.graph_build import MOST_CONSTANT_BYTES, DType, Node, Value, values_in

# Larger ones stay the operations that make them,
MOST_FOLDED_BYTES = 16 << 10
# but for those that have no loops to be written: how many places there are depends on what is in a tensor.
OPAQUE = {"aten.triu_indices.default", "aten.tril_indices.default", "aten.nonzero.default",
          "aten._upsample_bilinear2d_aa.default", "aten._upsample_bicubic2d_aa.default"}


def fold(graph, read):
    replaced = {}
    opaque = {id(value) for node in graph.nodes if node.op in OPAQUE for value in node.outputs}

    def replace(argument, place):
        if isinstance(argument, list):
            return [replace(item, place) for item in argument]
        if not isinstance(argument, Value) or argument.known is None:
            return argument
        if id(argument) not in replaced:
            most = MOST_CONSTANT_BYTES if id(argument) in opaque else MOST_FOLDED_BYTES
            replaced[id(argument)] = folded(graph, argument, read, place, most)
        return replaced[id(argument)]

    old, graph.nodes = graph.nodes, []
    for node in old:
        needed = node.outputs[0].known is None or any(
            id(value) in opaque or value.known is not None and "float" in value.dtype
            for argument in node.args.values() for value in values_in(argument))
        if needed:  # also of what is too large itself: the framework's powers and logarithms are the reference's own
            node.args = {name: replace(argument, node) for name, argument in node.args.items()}
        graph.nodes.append(node)
    last = Node("", {}, [], 0, "")
    graph.outputs = [replace(value, last) for value in graph.outputs]


def folded(graph, value, read, place, most):
    if not 0 < read.nbytes(value.known) <= most:
        return value
    number = read.uniform(value.known)
    if number is not None:
        args = {"size": value.shape, "fill_value": number, "dtype": DType(value.dtype)}
        return graph.node("aten.full.default", args, [("full", value.dtype, value.shape)], place.line, place.text)[0]
    if any(value is known for known, _ in graph.inputs):
        return value
    return graph.constant("constant", value.dtype, value.shape, read.data(value.known), value.known)
