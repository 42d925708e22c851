"""Captures a MindSpore model as a graph of ATen operations (docs/formats/graph.md).

MindSpore compiles the model for export and hands over MindIR, its exported graph, with the shape and type of every
node; graph_mindspore_build.py writes each primitive as ATen operations. The lines of the task stand in the text form
of the same graph, which MindSpore writes when it is asked to save its graphs; both name a node by its scope.
"""

import contextlib
import glob
import inspect
import os
import re
import shutil
import tempfile

import mindspore

from kerf import graph_mindspore_math  # noqa: F401  the rules
from kerf import graph_mindspore_nn  # noqa: F401
from kerf import graph_mindspore_reduce  # noqa: F401
from kerf import graph_mindspore_shape  # noqa: F401
from kerf import graph_simplify, mindir, values
from kerf.graph_build import GraphBuilder, Refused
from kerf.graph_mindspore_build import Builder
from kerf.graph_source import SourceLines

SCOPE = re.compile(r"# Fullname with scope: \((.*)\)")


class Taken(Exception):
    """Ends the export before it writes a file: the graph is here already."""


def export(model, arguments):
    """The ModelProto of a cell."""
    taken = []

    def take(proto):
        taken.append(proto)
        raise Taken

    with contextlib.suppress(Taken):
        mindspore.export(model, *arguments, file_name="model", file_format="MINDIR", custom_func=take)
    if not taken:
        raise Refused("MindSpore's export", "it gave no graph")
    return taken[0]


@contextlib.contextmanager
def saved_graphs():
    """A folder into which MindSpore writes the graphs it compiles inside the block."""
    folder = tempfile.mkdtemp(prefix="graphs-", dir=os.getcwd())
    names = {"MS_DEV_SAVE_GRAPHS": "1", "MS_DEV_SAVE_GRAPHS_PATH": folder}
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(names)
    try:
        yield folder
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
        shutil.rmtree(folder, ignore_errors=True)


def lines_in(folder, path):
    """{scope of a node: line of the task}. Empty where MindSpore wrote no text."""
    place = re.compile(r"# In file " + re.escape(path) + r":(\d+)")
    found, scope = {}, None
    for name in sorted(glob.glob(os.path.join(folder, "**", "*_validate_*.ir"), recursive=True))[-1:]:
        with open(name, encoding="utf-8", errors="replace") as file:
            for text in file:
                if match := SCOPE.search(text):
                    scope = match.group(1)
                elif scope and (match := place.search(text)):
                    found[scope] = int(match.group(1))  # the innermost comes last
    return found


def exported(task, model, arguments):
    """(mindir.Export, {scope: (line, text)})."""
    source = SourceLines(task.path)
    try:
        with saved_graphs() as folder:
            proto = export(model, arguments)
            lines = lines_in(folder, task.path)
        return mindir.read(proto), {scope: (line, source.text(line)) for scope, line in lines.items()}
    except mindir.Unreadable as error:
        raise Refused("MindSpore's export", f"it holds {error}") from error
    except Refused:
        raise
    except Exception as error:  # its compiler raises whatever it likes
        text = str(error)
        found = re.findall(re.escape(task.path) + r":(\d+)", text)
        line = int(found[-1]) if found else 0
        raise Refused("MindSpore's export", f"MindSpore cannot compile the model: {text.strip().splitlines()[0][:500]}",
                      line, source.text(line)) from error


def positional(model, call):
    """The arguments in the order of construct()."""
    bound = inspect.signature(model.construct).bind(*call.args, **call.kwargs)
    bound.apply_defaults()
    if bound.kwargs:
        raise Refused("MindSpore's export", "construct() has arguments that can only be given by name")
    return list(bound.args)


def make_parameters(framework, model):
    """{name in the export: index} of the model's tensors. Plain ones become parameters: the compiler would bake them in."""
    indices = {}
    for index, (name, tensor) in enumerate(framework.tensors_of(model)):
        if not isinstance(tensor, mindspore.Parameter):
            holder, attribute = framework.holder(model, name)
            if attribute is None:
                continue  # inside a list: a constant
            tensor = mindspore.Parameter(tensor, name=f"kerf.{name}", requires_grad=False)
            delattr(holder, attribute)
            setattr(holder, attribute, tensor)
        indices.setdefault(tensor.name, index)
    return indices


def bind_inputs(framework, builder, call, arguments):
    """Gives each argument that holds tensors its values."""
    entries = list(builder.export.inputs)
    held = [one for one in arguments if values.holds_tensor(framework, one)]
    if len(entries) != len(held):
        raise Refused("MindSpore's export", f"it has {len(entries)} inputs where the task gives {len(held)} arguments "
                      "with tensors")
    numbers = {}
    for index, (name, leaf) in enumerate(call.leaves(framework)):
        if framework.is_tensor(leaf):
            numbers.setdefault(id(leaf), []).append((index, name))

    def bound(thing):
        if not framework.is_tensor(thing):
            items = thing.values() if isinstance(thing, dict) else thing
            if not all(values.holds_tensor(framework, item) for item in items):
                raise Refused("a number among tensors", "an argument holds tensors and plain values; give them apart")
            return [bound(item) for item in items]
        index, name = numbers[id(thing)].pop(0)
        return builder.graph.input(name, framework.dtype(thing), thing.shape, {"source": "inputs", "index": index})

    for (name, _), thing in zip(entries, held):
        builder.bind(name, bound(thing))
    builder.graph.inputs.sort(key=lambda item: item[1]["index"])


def trace(framework, task, model, call):
    """(graph, specialised) of one export."""
    if not isinstance(model, mindspore.nn.Cell):
        raise Refused("MindSpore's export", "Model is no mindspore.nn.Cell, and only cells can be exported")
    leaves = call.leaves(framework)
    specialised = [{"index": index, "value": value} for index, (_, value) in enumerate(leaves)
                   if isinstance(value, (bool, int, float))]
    arguments = positional(model, call)
    names = [(name, framework.dtype(tensor), tensor.shape) for name, tensor in framework.tensors_of(model)]
    indices = make_parameters(framework, model)
    given = [mindspore.mutable(one) if isinstance(one, (list, tuple, dict)) and values.holds_tensor(framework, one)
             else one for one in arguments]
    found, lines = exported(task, model, given)
    graph = GraphBuilder()
    builder = Builder(graph, found, lines)
    bind_inputs(framework, builder, call, arguments)
    parameters = [graph.input(name, dtype, shape, {"source": "params", "index": index, "name": name})
                  for index, (name, dtype, shape) in enumerate(names)]
    for name, own, _ in found.parameters:
        if own not in indices:
            raise Refused("MindSpore's export", f"its parameter {own} is none of the model's")
        builder.bind(name, parameters[indices[own]])
    builder.run()
    graph_simplify.simplify(graph)
    return graph, specialised


def capture(framework, task, pairs):
    """The graph's document. `pairs` are (model, call) of several draws: what differs between them is no constant."""
    documents = []
    for model, call in pairs:
        graph, specialised = trace(framework, task, model, call)
        documents.append(graph.document(framework="mindspore", framework_version=framework.version,
                                        capture="mindspore.mindir", specialised=specialised))
    for other in documents[1:]:
        if other["specialised"] != documents[0]["specialised"]:
            raise Refused("a number that changes", "a number among the inputs is another in each draw, and MindSpore "
                          "compiles numbers in; make it a tensor")
        if other != documents[0]:
            raise Refused("a graph that changes", "two draws of the task gave different operations, shapes or "
                          "constants; it depends on random numbers or on the values of its inputs")
    return documents[0]
