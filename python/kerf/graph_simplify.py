"""Takes moves out of a graph that cancel or do nothing.

A view of a view is one view, a permutation of a permutation one permutation, one that moves only sizes of 1 a view, and
a stack of one product is one product. torch and einsum leave many of them.
"""

from kerf.graph_build import Node, Value


class Simplifier:
    def __init__(self, graph):
        self.graph = graph
        self.nodes = []
        self.maker = {}  # by the address of a value
        self.same = {}
        self.old = []    # keeps values alive whose addresses are keys

    def run(self):
        for node in self.graph.nodes:
            self.old.append(node)
            node.args = {name: self.resolve(argument) for name, argument in node.args.items()}
            value = self.rewrite(node)
            if value is None:
                self.keep(node)
            else:
                self.same[id(node.outputs[0])] = value
        self.graph.nodes = self.nodes
        self.graph.outputs = [self.resolve(value) for value in self.graph.outputs]

    def resolve(self, argument):
        if isinstance(argument, list):
            return [self.resolve(item) for item in argument]
        return self.same.get(id(argument), argument) if isinstance(argument, Value) else argument

    def keep(self, node):
        self.nodes.append(node)
        for value in node.outputs:
            self.maker[id(value)] = node
        return node.outputs[0]

    def made_by(self, value, op):
        node = self.maker.get(id(value))
        return node if node is not None and node.op == op else None

    def emit(self, op, args, shape, like):
        value = Value(op.split(".")[1], like.outputs[0].dtype, shape)
        return self.keep(Node(op, args, [value], like.line, like.text))

    # Each gives the value that takes the place of the node's, or None when the node stays.

    def rewrite(self, node):
        if node.op == "aten.view.default":
            return self.view(node.args["self"], node.outputs[0].shape, node)
        if node.op == "aten.permute.default":
            return self.permute(node.args["self"], node.args["dims"], node)
        if node.op == "aten.bmm.default" and node.args["self"].shape[0] == 1:
            left, right = [self.view(node.args[name], node.args[name].shape[1:], node) for name in ("self", "mat2")]
            product = self.emit("aten.mm.default", {"self": left, "mat2": right}, node.outputs[0].shape[1:], node)
            return self.view(product, node.outputs[0].shape, node)
        return None

    def view(self, value, shape, like):
        while (node := self.made_by(value, "aten.view.default")) is not None:
            value = node.args["self"]
        if value.shape == shape:
            return value
        return self.emit("aten.view.default", {"self": value, "size": list(shape)}, list(shape), like)

    def permute(self, value, dims, like):
        while (node := self.made_by(value, "aten.permute.default")) is not None:
            dims = [node.args["dims"][dim] for dim in dims]
            value = node.args["self"]
        shape = [value.shape[dim] for dim in dims]
        moved = [dim for dim in dims if value.shape[dim] != 1]
        if moved == sorted(moved):
            return self.view(value, shape, like)
        return self.emit("aten.permute.default", {"self": value, "dims": list(dims)}, shape, like)


def simplify(graph):
    Simplifier(graph).run()
