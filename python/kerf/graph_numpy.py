"""Captures a NumPy model as a graph of ATen operations (docs/formats/graph.md).

The model runs once on arrays that note what is done with them (graph_numpy_array.py). The task's own name for numpy means
a numpy that makes such arrays too, because zeros() and asarray() ask nobody.
"""

import contextlib
import types

import numpy

from kerf import graph_fold, graph_simplify, values
from kerf.graph_build import GraphBuilder, Refused
from kerf.graph_numpy_array import TracedArray, Tracer, traced_in
from kerf.graph_numpy_functions import copy as copy_array
from kerf.graph_numpy_functions import astype
from kerf.graph_source import SourceLines

# They make arrays out of nothing; the task may write into them later.
MAKERS = ("zeros", "ones", "empty", "full", "arange", "eye", "identity", "linspace", "logspace", "tri", "meshgrid",
          "indices", "zeros_like", "ones_like", "empty_like", "full_like", "frombuffer", "fromiter", "hanning",
          "hamming", "tril_indices", "triu_indices")


class Read:
    """Arrays whose values are known, for graph_fold.py."""

    nbytes = staticmethod(lambda array: array.nbytes)
    data = staticmethod(lambda array: numpy.ascontiguousarray(array).tobytes())

    @staticmethod
    def uniform(array):
        return array.flat[0].item() if (array == array.flat[0]).all() else None


class InstanceOfBoth(type):
    def __instancecheck__(cls, instance):
        return isinstance(instance, (numpy.ndarray, TracedArray))


class AnyArray(metaclass=InstanceOfBoth):
    """numpy.ndarray for isinstance()."""


class Random:
    """numpy.random while a model runs."""

    def __init__(self, tracer):
        self._tracer = tracer

    def __getattr__(self, name):
        raise self._tracer.emit.refused("random numbers", f"numpy.random.{name} draws other numbers in each run")


class TracedNumpy:
    """numpy, for the task's own code."""

    def __init__(self, tracer):
        self._tracer = tracer

    def __getattr__(self, name):
        return replaced(self._tracer, getattr(numpy, name))


def replaced(tracer, thing):
    """What the task gets for something of numpy's."""
    if thing is numpy:
        return TracedNumpy(tracer)
    if thing is numpy.random:
        return Random(tracer)
    if thing is numpy.ndarray:
        return AnyArray
    if thing in (numpy.array, numpy.asarray, numpy.ascontiguousarray, numpy.asanyarray):
        return lambda given, dtype=None, **options: as_array(tracer, thing, given, dtype, options)
    if isinstance(thing, types.FunctionType | types.BuiltinFunctionType) or callable(thing):
        name = getattr(thing, "__name__", "")
        if name in MAKERS and getattr(numpy, name, None) is thing:
            return lambda *args, **kwargs: wrap_result(tracer, thing, args, kwargs)
    return thing


def as_array(tracer, thing, given, dtype, options):
    if not traced_in(given):
        result = thing(given, dtype=dtype, **options)
        return tracer.constant(result) if result.dtype.kind in "biuf" else result
    array = tracer.wrap(given)
    if dtype is not None:
        array = astype(tracer, array, dtype)
    return copy_array(tracer, array) if thing is numpy.array else array


def wrap_result(tracer, thing, args, kwargs):
    if traced_in([args, kwargs]):
        if thing in (numpy.full, numpy.arange, numpy.linspace):
            args, kwargs = settle(args), settle(kwargs)  # a number of an array: refused unless it is known
        elif any(isinstance(one, TracedArray) for one in args):
            return thing(*args, **kwargs)
    result = thing(*args, **kwargs)
    if thing is numpy.empty:
        result[...] = 0  # who uses it writes it first
    if isinstance(result, numpy.ndarray):
        return tracer.constant(result)
    return type(result)(tracer.constant(one) for one in result)


def settle(given):
    if isinstance(given, TracedArray):
        return given.read()
    if isinstance(given, dict):
        return {key: settle(item) for key, item in given.items()}
    return type(given)(settle(item) for item in given) if isinstance(given, (list, tuple)) else given


@contextlib.contextmanager
def traced_names(namespace, tracer):
    """The task's own names for numpy and what it imported from there, until the block ends."""
    before = {}
    for name, thing in namespace.items():
        if name.startswith("__"):
            continue
        try:
            new = replaced(tracer, thing)
        except (TypeError, AttributeError):
            continue
        if new is not thing:
            before[name] = (thing, new)
    try:
        namespace.update((name, new) for name, (_, new) in before.items())
        yield
    finally:
        namespace.update((name, thing) for name, (thing, _) in before.items())


def trace(framework, task, model, call):
    """(graph, specialised) of one run."""
    graph = GraphBuilder()
    tracer = Tracer(graph, SourceLines(task.path))
    model = framework.copy_model(model)
    leaves, specialised = [], []
    for index, (name, value) in enumerate(call.leaves(framework)):
        if framework.is_tensor(value):
            data = numpy.array(value)
            entry = {"source": "inputs", "index": index}
            value = tracer.array(graph.input(name, framework.dtype(data), data.shape, entry), data)
        elif isinstance(value, (bool, int, float)):
            specialised.append({"index": index, "value": value})
        leaves.append(value)
    for index, (name, array) in enumerate(framework.tensors_of(model)):
        entry = {"source": "params", "index": index, "name": name}
        data = numpy.array(array)
        framework.set_tensor(model, name, tracer.array(
            graph.input(name, framework.dtype(data), data.shape, entry), data))
    with traced_names(task.module.__dict__, tracer), numpy.errstate(all="ignore"):
        result = framework.call(model, call.with_leaves(framework, leaves))
    graph.outputs = [tracer.wrap(array).value for _, array in outputs_of(framework, result)]
    graph_fold.fold(graph, Read)
    graph_simplify.simplify(graph)
    return graph, specialised


class Outputs:
    """The framework, where our arrays count as tensors."""

    def __init__(self, framework):
        self.framework = framework

    def is_tensor(self, value):
        return isinstance(value, TracedArray) or self.framework.is_tensor(value)

    def scalar(self, value):
        return self.framework.scalar(value)


def outputs_of(framework, result):
    return values.outputs_of(Outputs(framework), result)[0]


def capture(framework, task, pairs):
    """The graph's document. `pairs` are (model, call) of several draws: what differs between them is no constant."""
    documents = []
    for model, call in pairs:
        graph, specialised = trace(framework, task, model, call)
        documents.append(graph.document(framework="numpy", framework_version=framework.version, capture="numpy",
                                        specialised=specialised))
    for other in documents[1:]:
        if other["specialised"] != documents[0]["specialised"]:
            raise Refused("a number that changes", "a number among the inputs is another in each draw, and numpy "
                          "treats numbers and arrays differently; make it an array")
        if other != documents[0]:
            raise Refused("a graph that changes", "two draws of the task gave different operations, shapes or "
                          "constants; it depends on random numbers or on the values of its inputs")
    return documents[0]
