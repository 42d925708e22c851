"""NumPy. A model's parameters are its attributes that are arrays; it is called, or its forward() is."""

import contextlib
import copy
import sys

import numpy

from kerf import frameworks, values

SUPPORTED = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
             "float64", "complex64", "complex128")


WIDE = {numpy.float16: numpy.float64, numpy.float32: numpy.float64, numpy.complex64: numpy.complex128}


def widen(value):
    """float64 for a narrower float type, the value itself otherwise."""
    return WIDE.get(value, value) if isinstance(value, type) else value


class WideNumpy:
    """numpy, but whoever asks it for float32 or float16 by name gets float64."""

    def __getattr__(self, name):
        return widen(getattr(numpy, name))


@contextlib.contextmanager
def wide_names(namespace):
    """The task's own names for numpy and its types mean the wide ones, until the block ends."""
    before = {}
    for name, value in namespace.items():
        new = WideNumpy() if value is numpy else widen(value)
        if new is not value:
            before[name] = value
    try:
        namespace.update((name, WideNumpy() if value is numpy else widen(value)) for name, value in before.items())
        yield
    finally:
        namespace.update(before)


class Framework:
    name = "numpy"
    version = numpy.__version__

    def seed(self, seed):
        frameworks.seed_everything(seed)

    def set_threads(self, count):
        """BLAS reads its variables when it is loaded; the caller has set them."""

    def is_tensor(self, value):
        # numpy.float64 is also a Python float and stays a number.
        return isinstance(value, numpy.ndarray) or (isinstance(value, numpy.generic) and not isinstance(value, float))

    def dtype(self, tensor):
        name = tensor.dtype.newbyteorder("=").name
        if name not in SUPPORTED:
            raise TypeError(f"arrays of {tensor.dtype} are not supported")
        return name

    def shape(self, tensor):
        return [int(size) for size in tensor.shape]

    def buffer(self, tensor):
        array = numpy.ascontiguousarray(tensor, dtype=numpy.dtype(self.dtype(tensor)).newbyteorder("<"))
        return memoryview(array.reshape(-1).view(numpy.uint8))

    def from_buffer(self, dtype, shape, buffer):
        return numpy.frombuffer(buffer, dtype=numpy.dtype(dtype).newbyteorder("<")).reshape(shape).astype(dtype)

    def scalar(self, value):
        return numpy.asarray(value)

    def copy(self, tensor):
        return tensor.copy()

    def prepare(self, model):
        return model

    def tensors_of(self, model):
        return [leaf for name, value in frameworks.attributes(self, model, values.holds_tensor)
                for leaf in values.Call((), {name: value}).leaves(self) if self.is_tensor(leaf[1])]

    def set_tensor(self, model, name, tensor):
        attribute = name.split(".")[0]
        call = values.Call((), {attribute: getattr(model, attribute)})
        leaves = [tensor if leaf == name else value for leaf, value in call.leaves(self)]
        setattr(model, attribute, call.with_leaves(self, leaves).kwargs[attribute])

    def call(self, model, call):
        function = model if callable(model) else model.forward
        return function(*call.args, **call.kwargs)

    def copy_model(self, model):
        return copy.deepcopy(model)

    def cast(self, tensor, table):
        target = table.get(self.dtype(tensor))
        if target is None or target == "bfloat16":  # numpy has none
            return tensor
        return tensor.astype(target)

    def cast_model(self, model, table):
        for name, value in frameworks.attributes(self, model, values.holds_tensor):
            setattr(model, name, values.map_tensors(self, value, lambda tensor: self.cast(tensor, table)))
        if "float64" in table.values() and hasattr(model, "__dict__"):
            vars(model).update((name, widen(value)) for name, value in list(vars(model).items()))

    @contextlib.contextmanager
    def computing_in(self, dtype):
        """With float64, what the task asks for in a narrower type by name is float64 too."""
        task = sys.modules.get("kerf_task")
        with numpy.errstate(all="ignore"):
            if dtype == "float64" and task is not None:
                with wide_names(task.__dict__):
                    yield
            else:
                yield

    def can_lower_to(self, dtype):
        return dtype != "bfloat16"

    def draw_like(self, tensor, shape):
        """Another tensor with that one's dtype, range and spread."""
        dtype = self.dtype(tensor)
        if tensor.size == 0:
            return numpy.zeros(shape, dtype)
        if dtype == "bool":
            return numpy.random.random(shape) < tensor.mean()
        if dtype.startswith(("int", "uint")):
            low, high = int(tensor.min()), int(tensor.max())
            return numpy.random.randint(low, high + 1, size=shape, dtype="int64").astype(dtype)
        if dtype.startswith("complex"):
            wide = tensor.astype("complex128")
            draw = numpy.random.standard_normal(shape) + 1j * numpy.random.standard_normal(shape)
            return (draw * wide.std() / 2**0.5 + wide.mean()).astype(dtype)
        wide = tensor.astype("float64")
        draw = numpy.random.standard_normal(shape) * wide.std() + wide.mean()
        return numpy.clip(draw, wide.min(), wide.max()).astype(dtype)

    def perturb(self, tensor):
        """A tensor that differs in every element."""
        dtype = self.dtype(tensor)
        if dtype == "bool":
            return ~tensor
        if dtype in frameworks.FLOATS:
            return (tensor * 1.25 + numpy.random.random(tensor.shape) + 0.5).astype(dtype)
        flipped = numpy.flip(tensor).copy() if tensor.ndim else tensor
        return tensor + numpy.asarray(1, dtype) if numpy.array_equal(flipped, tensor) else flipped

    def shake(self, tensor, amount, turn=0):
        """Every element off by that share of itself, up or down, the same way each time and another one in each turn."""
        if self.dtype(tensor) not in frameworks.FLOATS:
            return tensor
        signs = numpy.random.default_rng([tensor.size, turn]).integers(0, 2, tensor.shape) * 2 - 1
        return tensor * (1 + amount * signs)

    def distance(self, one, other, unit):
        """|one - other| in units of `unit`, in float32."""
        with numpy.errstate(all="ignore"):
            return numpy.asarray(abs(one - other) / unit, dtype="float32")

    def compiled(self, model):
        raise NotImplementedError("numpy has no compiler")

    def work_counter(self):
        return None
