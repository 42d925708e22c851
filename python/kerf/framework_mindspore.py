"""MindSpore, in PyNative mode on the CPU. A model's parameters are those of nn.Cell, then plain attributes."""

import contextlib
import copy
import os
import sys

os.environ.setdefault("GLOG_v", "3")  # errors only: it warns of what nobody here can change

import mindspore  # noqa: E402
import numpy  # noqa: E402

from kerf import frameworks, values  # noqa: E402

SUPPORTED = {name: getattr(mindspore, "bool_" if name == "bool" else name) for name in (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32",
    "float64", "complex64", "complex128") if hasattr(mindspore, "bool_" if name == "bool" else name)}
NAMES = {dtype: name for name, dtype in SUPPORTED.items()}


class Framework:
    name = "mindspore"
    version = mindspore.__version__

    def __init__(self):
        mindspore.set_context(mode=mindspore.PYNATIVE_MODE)

    def seed(self, seed):
        frameworks.seed_everything(seed)
        mindspore.set_seed(seed)

    def set_threads(self, count):
        # Kernels take 25 threads by default. It can be set once; older versions have the second way only.
        try:
            mindspore.device_context.cpu.op_tuning.threads_num(count)
        except (AttributeError, RuntimeError):
            with contextlib.suppress(Exception):
                mindspore.set_context(runtime_num_threads=count)

    def is_tensor(self, value):
        return isinstance(value, mindspore.Tensor)

    def dtype(self, tensor):
        if tensor.dtype not in NAMES:
            raise TypeError(f"tensors of {tensor.dtype} are not supported")
        return NAMES[tensor.dtype]

    def shape(self, tensor):
        return [int(size) for size in tensor.shape]

    def buffer(self, tensor):
        if self.dtype(tensor) == "bfloat16":
            # asnumpy() knows no bfloat16; its bits are the upper half of the float32 of the same value.
            bits = tensor.astype(SUPPORTED["float32"]).asnumpy().view(numpy.uint32) >> 16
            array = numpy.ascontiguousarray(bits.astype(numpy.uint16))
        else:
            array = numpy.ascontiguousarray(tensor.asnumpy())
        return memoryview(array.reshape(-1).view(numpy.uint8))

    def from_buffer(self, dtype, shape, buffer):
        if dtype == "bfloat16":
            bits = numpy.frombuffer(buffer, dtype=numpy.uint16).astype(numpy.uint32) << 16
            return mindspore.Tensor(bits.view(numpy.float32).reshape(shape)).astype(SUPPORTED["bfloat16"])
        return mindspore.Tensor(numpy.frombuffer(buffer, dtype=dtype).reshape(shape).copy())

    def scalar(self, value):
        return mindspore.Tensor(numpy.asarray(value))

    def copy(self, tensor):
        return tensor.copy()

    def prepare(self, model):
        return model.set_train(False) if isinstance(model, mindspore.nn.Cell) else model

    def _cells(self, model):
        """[(prefix, holder)] of everything that has attributes."""
        if not isinstance(model, mindspore.nn.Cell):
            return [("", model)]
        return [(prefix + "." if prefix else "", cell) for prefix, cell in model.cells_and_names()]

    def _attributes(self, holder):
        """Plain ones of the task's own classes: MindSpore's layers keep tensors that have no part in what they compute."""
        if type(holder).__module__.startswith("mindspore."):
            return []
        return [(name, value) for name, value in frameworks.attributes(self, holder, values.holds_tensor)
                if not name.startswith("_")]

    def tensors_of(self, model):
        found = {}
        if isinstance(model, mindspore.nn.Cell):
            found.update((name, value) for name, value in model.parameters_and_names())
        known = {id(tensor) for tensor in found.values()}
        for prefix, holder in self._cells(model):
            for name, value in self._attributes(holder):
                for leaf, tensor in values.Call((), {prefix + name: value}).leaves(self):
                    if self.is_tensor(tensor) and id(tensor) not in known:
                        found.setdefault(leaf, tensor)
        return list(found.items())

    def holder(self, model, name):
        """(the object, the attribute) that has the tensor of that name; (None, None) for one in a list."""
        for prefix, holder in self._cells(model):
            if name.startswith(prefix) and self.is_tensor(vars(holder).get(name[len(prefix):])):
                return holder, name[len(prefix):]
        return None, None

    def set_tensor(self, model, name, tensor):
        old = dict(self.tensors_of(model))[name]
        if isinstance(old, mindspore.Parameter):
            old.set_data(tensor)
            return
        for prefix, holder in self._cells(model):
            for attribute, value in self._attributes(holder):
                held = values.Call((), {prefix + attribute: value})
                leaves = held.leaves(self)
                if any(leaf == name for leaf, _ in leaves):
                    changed = held.with_leaves(self, [tensor if leaf == name else one for leaf, one in leaves])
                    setattr(holder, attribute, changed.kwargs[prefix + attribute])
                    return

    def call(self, model, call):
        function = model if callable(model) else model.construct
        try:
            result = function(*call.args, **call.kwargs)
            # PyNative returns before the work is done.
            for _, tensor in values.outputs_of(self, result)[0]:
                self._array(tensor)
            return result
        except Exception as error:
            raise self._explained(error, function, call)

    def _explained(self, error, function, call):
        """The error with the line it comes from: PyNative tells of it when a later operation asks for the result."""
        path = getattr(sys.modules.get("kerf_task"), "__file__", "")
        if path and not passes_through(error, path):
            error.kerf_line = line_that_fails(path, lambda: function(*call.args, **call.kwargs))
        forget_errors()
        if error.args and isinstance(error.args[0], str):
            error.args = (error.args[0].split("\n\n-----")[0],)  # without the places in MindSpore's own source
        return error

    def copy_model(self, model):
        return copy.deepcopy(model)

    def cast(self, tensor, table):
        target = table.get(self.dtype(tensor))
        return tensor if target is None else tensor.astype(SUPPORTED[target])

    def cast_model(self, model, table):
        for name, tensor in self.tensors_of(model):
            target = table.get(self.dtype(tensor))
            if target is None:
                continue
            if isinstance(tensor, mindspore.Parameter):
                tensor.set_dtype(SUPPORTED[target])
            else:
                self.set_tensor(model, name, self.cast(tensor, table))

    @contextlib.contextmanager
    def computing_in(self, dtype):
        """With float64, what the task asks for in a narrower type by name is float64 too."""
        task = sys.modules.get("kerf_task")
        if dtype != "float64" or task is None:
            yield
            return
        from kerf.mindspore_wide import wide_primitives  # takes a while, and most processes do without
        with wide_names(mindspore.__dict__), wide_names(task.__dict__), wide_primitives():
            yield

    def can_lower_to(self, dtype):
        return dtype in SUPPORTED

    def draw_like(self, tensor, shape):
        numpy_framework = _numpy()
        array = numpy_framework.draw_like(self._array(tensor), shape)
        return mindspore.Tensor(array).astype(tensor.dtype)

    def shake(self, tensor, amount, turn=0):
        return mindspore.Tensor(_numpy().shake(self._array(tensor), amount, turn)).astype(tensor.dtype)

    def distance(self, one, other, unit):
        return mindspore.Tensor(_numpy().distance(self._array(one), self._array(other), unit))

    def perturb(self, tensor):
        return mindspore.Tensor(_numpy().perturb(self._array(tensor))).astype(tensor.dtype)

    def _array(self, tensor):
        return (tensor.astype(SUPPORTED["float32"]) if self.dtype(tensor) == "bfloat16" else tensor).asnumpy()

    def compiled(self, model):
        raise NotImplementedError("no compiled baseline for mindspore yet")

    def work_counter(self):
        return None


def passes_through(error, path):
    """Whether the error arose below the task's own code."""
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            return True
        trace = trace.tb_next
    return False


def has_failed():
    """Whether MindSpore has an error to tell of an earlier operation; it is told then."""
    try:
        (mindspore.Tensor(numpy.ones(1, numpy.float32)) + 1).asnumpy()
    except Exception:
        return True
    return False


def forget_errors():
    """What is left of a run that failed would come up in the next one."""
    for _ in range(100):
        if not has_failed():
            return


def line_that_fails(path, run):
    """The line of the file after which MindSpore has an error to tell, when all work is waited for after each; None else."""
    forget_errors()
    state = {"line": None, "found": None}

    def watch(frame, event, argument):
        if frame.f_code.co_filename != path:
            return None
        if event in ("line", "return") and state["line"] and not state["found"] and has_failed():
            state["found"] = state["line"]
        state["line"] = frame.f_lineno
        return watch

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        run()
    except Exception:
        pass  # known already
    finally:
        sys.settrace(before)
    return state["found"]


@contextlib.contextmanager
def wide_names(namespace):
    """float32 and the like mean float64 in these names, until the block ends."""
    narrow = [SUPPORTED[name] for name in ("float16", "bfloat16", "float32")]
    before = {name: value for name, value in namespace.items()
              if isinstance(value, mindspore.Type) and any(value is one for one in narrow)}
    try:
        namespace.update((name, mindspore.float64) for name in before)
        yield
    finally:
        namespace.update(before)


def _numpy():
    return frameworks.get("numpy")
