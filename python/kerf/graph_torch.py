"""Captures a PyTorch model as a graph of ATen operations (docs/formats/graph.md).

The model runs once, as the reference does, on real tensors. torch.func.functionalize takes in-place updates and
aliases away; below it a dispatch mode sees every ATen operation, replaces what graph_torch_rules.py replaces, and
records the rest. What the recorder sees is what make_fx and torch.export see, for a fiftieth of their import time.
"""

import contextlib

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode

from kerf import graph_fold, graph_simplify, graph_torch_form, graph_torch_rules, values
from kerf.framework_torch import NAMES
from kerf.graph_build import DType, GraphBuilder, Refused
from kerf.graph_source import SourceLines

aten = torch.ops.aten
MARK = "_kerf_value"
# How a device, a layout or a generator is chosen says nothing about the values.
NOT_VALUES = ("layout", "device", "pin_memory", "memory_format", "non_blocking", "generator")
READS = {aten._local_scalar_dense.default, aten.item.default, aten.is_nonzero.default, aten.equal.default}
MASKED = {aten.index.Tensor, aten.masked_select.default, aten.index_put.default}


class Recorder(TorchDispatchMode):
    def __init__(self, path):
        super().__init__()
        self.graph = GraphBuilder()
        self.source = SourceLines(path)
        self.rules = graph_torch_rules.rules()
        self.viewed = {}  # storages of which a view was made, by address
        self.specialised = []

    @classmethod
    def _should_skip_dynamo(cls):
        return False  # torch would import its compiler, more than a second, to keep it out of this class

    # Tensors and values.

    def bind(self, tensor, value):
        setattr(tensor, MARK, (self, value))

    def value_of(self, tensor):
        owner, value = getattr(tensor, MARK, (None, None))
        if owner is not self:
            value = self._constant(tensor)
            self.bind(tensor, value)
        return value

    def _constant(self, tensor):
        """A tensor no operation of this run made: one of the module's own."""
        data = graph_torch_form.data_of(tensor)
        try:
            return self.graph.constant("constant", name_of(tensor.dtype), tensor.shape, data, tensor)
        except Refused as error:
            raise self.refused(error.what, error.detail) from error

    def refused(self, what, detail):
        line, text = self.source.here()
        return Refused(what, detail, line, text)

    def is_known(self, arguments):
        """Whether no input has a part in any of these."""
        return all(self.value_of(tensor).known is not None for tensor in tensors_in(arguments))

    # Operations.

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func in graph_torch_rules.SAME:
            return self._same(func, args, kwargs)
        rule = self.rules.get(func)
        if rule is not None:
            with self:
                result = rule(*args, **kwargs)
            if result is not NotImplemented:
                return result
        elif graph_torch_rules.is_composite(func):
            with self:
                result = func.decompose(*args, **kwargs)
            if result is not NotImplemented:
                return result
        if func in MASKED and (places := self._places(func, args)) is not None:
            with self:
                return places()
        if func._schema.is_mutable:
            return self._in_place(func, args, kwargs)
        self._check(func, args, kwargs)
        result = run(func, args, kwargs)
        if func not in READS:
            self._record(func, args, kwargs, result)
        return result

    def _same(self, func, args, kwargs):
        result = run(func, args, kwargs)
        self.bind(result, self.value_of(args[0]))
        return result

    def _places(self, func, args):
        """The same with places where a mask depends on no input; None when there is no such mask."""
        if func is aten.masked_select.default:
            tensor, mask = args
            if not self.is_known(mask):
                return None
            shape = torch.broadcast_shapes(tensor.shape, mask.shape)
            return lambda: tensor.expand(shape).reshape(-1).index_select(
                0, mask.expand(shape).reshape(-1).nonzero().squeeze(1))
        tensor, given = args[:2]
        masks = [index for index in given if index is not None and index.dtype == torch.bool]
        if not masks or not self.is_known(masks):
            return None
        indices = []
        for index in given:
            indices += list(index.nonzero().unbind(1)) if index is not None and index.dtype == torch.bool else [index]
        return lambda: func(tensor, indices, *args[2:])

    def _check(self, func, args, kwargs):
        name = f"{func.namespace}::{func._schema.name.split('::')[1]}"
        if torch.Tag.nondeterministic_seeded in func.tags and kwargs.get("p", args[1:2]) not in (0, (0,), (0.0,)):
            raise self.refused("random numbers", f"{name} draws other numbers in each run")
        if func in READS and not self.is_known([args, kwargs]):
            line, text = self.source.here()
            branch = text.startswith(("if ", "elif ", "while ", "assert ")) or " if " in text
            raise Refused("data-dependent control flow" if branch else "a value read from a tensor",
                          f"{name}: what the task does next depends on the values of a tensor", line, text)
        masks = func is aten.index.Tensor and any(
            index is not None and index.dtype in (torch.bool, torch.uint8) for index in args[1])
        dynamic = masks or (torch.Tag.dynamic_output_shape in func.tags and func is not aten.index.Tensor)
        if dynamic and not self.is_known([args, kwargs]):
            raise self.refused("a shape that depends on data", f"{name}: the shape of its result is known only afterwards")

    def _in_place(self, func, args, kwargs):
        """Reaches this place for tensors of the module's own, and at the end for inputs that were changed."""
        target = args[0] if args else None
        functional = graph_torch_rules.functional_of(func)
        if functional is None or not isinstance(target, torch.Tensor):
            raise self.refused("an update in place", f"{func.name()} writes into one of its arguments")
        if torch.Tag.inplace_view in func.tags:
            return self._reshaped(func, functional, args, kwargs)
        value = self.value_of(target)
        if any(value is known and entry["source"] != "constant" for known, entry in self.graph.inputs):
            return target  # kernel.h: inputs are read-only; the reference's files hold them as they were
        if target._is_view() or self._is_viewed(target):
            raise self.refused("an update in place", f"{func.name()} writes into a tensor that shares memory with another")
        with self:
            result = functional(*args, **kwargs)
        target.copy_(result)
        self.bind(target, self.value_of(result))
        return target

    def _reshaped(self, func, functional, args, kwargs):
        """squeeze_ and the like, which vector @ matrix ends with: no element is written, only this tensor's shape."""
        with self:
            result = functional(*args, **kwargs)
        target = run(func, args, kwargs)
        self.bind(target, self.value_of(result))
        return target

    def _is_viewed(self, tensor):
        storage = self.viewed.get(tensor.untyped_storage().data_ptr())
        return storage is not None and not storage.expired()  # another may lie at the same address now

    def _record(self, func, args, kwargs, result):
        line, text = self.source.here()
        if result is None:
            return  # a check of what another operation gave
        results = [result] if isinstance(result, torch.Tensor) else list(result)
        if any(returned.alias_info is not None for returned in func._schema.returns):
            self.viewed.update((tensor.untyped_storage().data_ptr(), StorageWeakRef(tensor.untyped_storage()))
                               for tensor in tensors_in(args))
        known = self.is_known([args, kwargs])
        arguments = {}
        for index, argument in enumerate(func._schema.arguments):
            if argument.name in NOT_VALUES:
                continue
            given = args[index] if index < len(args) else kwargs.get(argument.name, argument.default_value)
            arguments[argument.name] = self._argument(given)
        specs = [(str(func._schema.name.split("::")[1]), name_of(tensor.dtype), tensor.shape) for tensor in results]
        name = f"{func.namespace}.{func._schema.name.split('::')[1]}.{func._overloadname}"
        try:
            made = graph_torch_form.add(self.graph, name, arguments, specs, line, text,
                                        torch.Tag.pointwise in func.tags)
        except Refused as error:
            raise Refused(error.what, error.detail, line, text) from error
        for tensor, value in zip(results, made):
            if known:
                value.known = tensor
            self.bind(tensor, value)

    def _argument(self, given):
        if isinstance(given, torch.Tensor):
            return self.value_of(given)
        if isinstance(given, torch.dtype):
            return DType(name_of(given))
        if isinstance(given, (list, tuple)):
            return [self._argument(item) for item in given]
        if isinstance(given, complex):
            raise self.refused("an element type", "complex numbers cannot be captured")
        return given


def name_of(dtype):
    return NAMES.get(dtype, str(dtype))


def tensors_in(argument):
    if isinstance(argument, torch.Tensor):
        return [argument]
    if isinstance(argument, dict):
        argument = argument.values()
    elif not isinstance(argument, (list, tuple)):
        return []
    return [tensor for item in argument for tensor in tensors_in(item)]


def run(func, args, kwargs):
    """The operation itself, with the fast paths that the recorder keeps the model from choosing."""
    torch._C._set_mkldnn_enabled(True)
    try:
        return func(*args, **kwargs)
    finally:
        torch._C._set_mkldnn_enabled(False)


@contextlib.contextmanager
def plain_paths():
    """Models choose fused operations for the machine they run on (recurrent cells, attention); here they shall not."""
    mkldnn, fast = torch._C._get_mkldnn_enabled(), torch.backends.mha.get_fastpath_enabled()
    torch._C._set_mkldnn_enabled(False)
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with torch.no_grad():
            yield
    finally:
        torch._C._set_mkldnn_enabled(mkldnn)
        torch.backends.mha.set_fastpath_enabled(fast)


def trace(framework, path, model, call, tensor_numbers):
    """The Recorder after one run. `tensor_numbers` are the leaves that are numbers and shall be inputs."""
    recorder = Recorder(path)
    leaves = [value for _, value in call.leaves(framework)]
    places = []
    for index, (name, value) in enumerate(call.leaves(framework)):
        if index in tensor_numbers:
            leaves[index] = value = framework.scalar(value)
        elif framework.is_tensor(value):
            leaves[index] = value = value.detach()  # the same input twice is two values
        elif isinstance(value, (bool, int, float)):
            recorder.specialised.append({"index": index, "value": value})
            continue
        else:
            continue
        places.append(index)
        recorder.bind(value, recorder.graph.input(name, name_of(value.dtype), value.shape,
                                                  {"source": "inputs", "index": index}))
    for index, (name, tensor) in enumerate(framework.tensors_of(model)):
        value = recorder.graph.input(name, name_of(tensor.dtype), tensor.shape,
                                     {"source": "params", "index": index, "name": name})
        if getattr(tensor, MARK, (None, None))[0] is not recorder:  # a tied one keeps its first name
            recorder.bind(tensor, value)

    def function(*tensors):
        for index, tensor in zip(places, tensors):
            leaves[index] = tensor
        result = framework.call(model, call.with_leaves(framework, leaves))
        return tuple(tensor for _, tensor in values.outputs_of(framework, result)[0])

    with plain_paths(), recorder, graph_torch_rules.Functions(recorder):
        found = torch.func.functionalize(function)(*[leaves[index] for index in places])
    recorder.graph.outputs = [recorder.value_of(tensor) for tensor in found]
    graph_fold.fold(recorder.graph, graph_torch_form.Read)
    graph_torch_form.simplify(recorder.graph)
    graph_simplify.simplify(recorder.graph)
    return recorder


def capture(framework, task, pairs):
    """The graph's document. `pairs` are (model, call) of several draws: what differs between them is no constant."""
    numbers, changing = number_leaves(framework, pairs)
    floats = {index for index, value in numbers.items() if isinstance(value, float)}
    kept = floats | changing
    try:
        recorder = trace(framework, task.path, *pairs[0], kept)
    except Refused:
        if kept == changing:
            raise
        kept = changing
        recorder = trace(framework, task.path, *pairs[0], kept)
    if kept != changing and not same_types(recorder, trace(framework, task.path, *pairs[0], changing)):
        kept = changing  # an integer tensor times a float is float32, times a float64 tensor it is not
        recorder = trace(framework, task.path, *pairs[0], kept)
    document = finish(framework, recorder)
    for model, call in pairs[1:]:
        if finish(framework, trace(framework, task.path, model, call, kept)) != document:
            raise Refused("a graph that changes", "two draws of the task gave different operations, shapes or "
                          "constants; it depends on random numbers or on the values of its inputs")
    return document


def finish(framework, recorder):
    return recorder.graph.document(framework="torch", framework_version=framework.version, capture="torch.dispatch",
                                   specialised=recorder.specialised)


def same_types(one, other):
    return [(value.dtype, value.shape) for value in one.graph.outputs] == [
        (value.dtype, value.shape) for value in other.graph.outputs]


def number_leaves(framework, pairs):
    """({index: value} of the inputs that are numbers, the indices of those that differ between draws)."""
    draws = [[value for _, value in call.leaves(framework)] for _, call in pairs]
    numbers = {index: value for index, value in enumerate(draws[0]) if isinstance(value, (bool, int, float))}
    changing = {index for index in numbers if any(repr(draw[index]) != repr(numbers[index]) for draw in draws[1:])}
    return numbers, changing
