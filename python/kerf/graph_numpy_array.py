"""An array that notes what is done with it.

Each holds numpy's own array beside its value, so that numpy itself decides shapes and types. Views know their base: a
write goes through it, and the other views of it follow.
"""

import numpy

from kerf import graph_numpy_functions as functions
from kerf import graph_numpy_library
from kerf import graph_numpy_views as views
from kerf.graph_build import Refused, Value
from kerf.graph_numpy_emit import Emitter
from kerf.graph_numpy_ufuncs import ACCUMULATE, REDUCE, UFUNCS

NUMBERS = (bool, int, float)


class Tracer:
    def __init__(self, graph, source):
        self.graph, self.source = graph, source
        self.emit = Emitter(graph, source)
        self.constants = {}

    def array(self, value, data, base=None, steps=()):
        return TracedArray(self, value, data, base, steps)

    def new(self, value, data, sources=()):
        """The array of a value that was just made; it is known when all it was made of are."""
        if list(data.shape) != value.shape or data.dtype.name != value.dtype:
            raise self.emit.refused("an operation", f"numpy gives {data.dtype.name}{list(data.shape)}, the graph "
                                    f"{value.dtype}{value.shape}")
        if all(not isinstance(one, TracedArray) or one.known for one in sources):
            value.known = data.copy()  # the array may be written later
        return self.array(value, data)

    def wrap(self, given):
        """Whatever numpy would take, as a TracedArray."""
        if isinstance(given, TracedArray):
            return given
        if isinstance(given, (list, tuple)) and any(isinstance(item, TracedArray) for item in flat(given)):
            return functions.stack(self, [self.wrap(item) for item in given], 0)
        array = numpy.asarray(given)
        if id(given) not in self.constants:
            if array.dtype.name not in functions.DTYPES:
                raise self.emit.refused("an element type", f"arrays of {array.dtype} cannot be captured")
            self.constants[id(given)] = (given, self.constant(array.copy()))
        return self.constants[id(given)][1]

    def constant(self, array):
        try:
            if array.size and (array == array.flat[0]).all():
                value = self.emit.full(array.shape, array.flat[0], array.dtype.name)
            else:
                value = self.graph.constant("constant", array.dtype.name, array.shape,
                                            numpy.ascontiguousarray(array).tobytes())
        except Refused as error:
            raise self.emit.refused(error.what, error.detail) from error
        value.known = array.copy()
        return self.array(value, array)

    def operand(self, given):
        """A value, or a number that takes the other's type."""
        if isinstance(given, NUMBERS) and not isinstance(given, numpy.generic):
            return given
        return self.wrap(given).value


def flat(items):
    for item in items:
        if isinstance(item, (list, tuple)):
            yield from flat(item)
        else:
            yield item


def plain(given):
    """With numpy's own arrays in the place of ours."""
    if isinstance(given, TracedArray):
        return given.data
    if isinstance(given, (list, tuple)):
        return type(given)(plain(item) for item in given)
    if isinstance(given, dict):
        return {key: plain(item) for key, item in given.items()}
    return given


def traced_in(given):
    if isinstance(given, TracedArray):
        return [given]
    if isinstance(given, dict):
        given = list(given.values())
    return [one for item in given for one in traced_in(item)] if isinstance(given, (list, tuple)) else []


class TracedArray(numpy.lib.mixins.NDArrayOperatorsMixin):
    __array_priority__ = 1000

    def __init__(self, tracer, value, data, base=None, steps=()):
        self.tracer, self.data = tracer, data
        self._value, self._base, self._steps = value, base, list(steps)
        self._version = 0
        self._seen = base._version if base is not None else 0

    # What it is.

    @property
    def value(self):
        if self._base is not None and self._seen != self._base._version:
            value = self._base.value
            for step in self._steps:
                value = self._forward(step, value)
            self._value, self._seen = value, self._base._version
        return self._value

    @property
    def known(self):
        return self.value.known is not None

    shape = property(lambda self: self.data.shape)
    dtype = property(lambda self: self.data.dtype)
    ndim = property(lambda self: self.data.ndim)
    size = property(lambda self: self.data.size)
    nbytes = property(lambda self: self.data.nbytes)
    itemsize = property(lambda self: self.data.itemsize)
    T = property(lambda self: self.transpose())
    real = property(lambda self: self)

    def __len__(self):
        return len(self.data)

    def __iter__(self):
        return (self[index] for index in range(len(self.data)))

    def __repr__(self):
        return f"<array {self.dtype.name}{list(self.shape)}>"

    __hash__ = None

    def view(self, *kind):
        if kind and numpy.dtype(*kind) != self.dtype:
            raise self.tracer.emit.refused("an operation", "ndarray.view as another type cannot be captured")
        return self.view_of([], self.data)

    def __getattr__(self, name):
        """What numpy's arrays can do and these cannot."""
        if not name.startswith("_") and hasattr(numpy.ndarray, name):
            raise self.tracer.emit.refused("an operation", f"ndarray.{name} cannot be captured")
        raise AttributeError(f"'TracedArray' object has no attribute '{name}'")

    # Reading a number out of it.

    def read(self):
        if self.known:
            return self.data
        line, text = self.tracer.source.here()
        branch = text.startswith(("if ", "elif ", "while ", "assert ")) or " if " in text
        raise Refused("data-dependent control flow" if branch else "a value read from an array",
                      "what the task does next depends on the values of an array", line, text)

    def __bool__(self):
        return bool(self.read())

    def __float__(self):
        return float(self.read())

    def __int__(self):
        return int(self.read())

    def __index__(self):
        return self.read().__index__()

    def __array__(self, dtype=None, copy=None):
        return numpy.array(self.read(), dtype=dtype)

    def item(self, *args):
        return self.read().item(*args)

    def tolist(self):
        return self.read().tolist()

    # Views.

    def _forward(self, step, value):
        made = step.forward(self.tracer.emit, value)
        if value.known is not None and made.known is None:
            made.known = self.data.copy() if made.shape == list(self.data.shape) else None
        return made

    def view_of(self, steps, data):
        """An array that shares memory with this one."""
        base = self if self._base is None else self._base
        value = self.value
        was_known = value.known is not None
        for step in steps:
            value = step.forward(self.tracer.emit, value)
        if was_known and value.known is None:
            value.known = data.copy()
        return self.tracer.array(value, data, base, self._steps + list(steps))

    def write(self, value):
        """Its elements are the value's from now on, and its base's as well."""
        if self._base is None:
            self._value = value
            self._version += 1
            return
        below = [self._base.value]
        for step in self._steps[:-1]:
            below.append(step.forward(self.tracer.emit, below[-1]))
        for step, under in zip(reversed(self._steps), reversed(below)):
            value = step.back(self.tracer.emit, under, value)
        self._base.write(value)
        if value.known is None and self._base.known:
            self._base._value.known = None

    def __getitem__(self, key):
        steps = views.basic_steps(self.shape, key)
        if steps is not None:
            return self.view_of(steps, self.data[key])
        return functions.index(self, key)

    def __setitem__(self, key, given):
        steps = views.basic_steps(self.shape, key)
        emit = self.tracer.emit
        new = self.tracer.wrap(given)
        all_known = self.known and new.known and all(one.known for one in traced_in(key))
        if steps is not None:
            part = self.data[key]
            target = self.view_of(steps, part) if steps else self
            value = emit.expand(emit.cast(new.value, target.value.dtype), target.data.shape)
        else:
            target, value = self, functions.index_put(self, key, new)
        self.data[plain(key)] = new.data
        target.write(value)
        self._settle(all_known)

    def _settle(self, known):
        """After a write: the base is known when everything was."""
        base = self if self._base is None else self._base
        base._value.known = base.data.copy() if known else None

    def _update(self, result):
        """self += other: numpy writes into the array, in its own type."""
        if not isinstance(result, TracedArray):
            return NotImplemented
        numpy.can_cast(result.dtype, self.dtype, "same_kind") or self.data.__iadd__(result.data)
        known = self.known and result.known
        value = self.tracer.emit.cast(result.value, self.value.dtype)
        value = self.tracer.emit.expand(value, self.shape)
        self.data[...] = result.data
        self.write(value)
        self._settle(known)
        return self

    # numpy's protocols.

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **options):
        name = ufunc.__name__
        if method == "reduce" and name in REDUCE:
            axis = options.pop("axis", 0)
            return functions.call(self.tracer, REDUCE[name], (inputs[0],), {"axis": axis, **options})
        if method == "accumulate" and name in ACCUMULATE:
            return functions.call(self.tracer, ACCUMULATE[name], inputs, {"axis": 0, **options})
        if method == "outer":
            left, right = map(self.tracer.wrap, inputs)
            return ufunc(left.reshape(left.shape + (1,) * right.ndim), right)
        if method in ("at", "reduceat"):
            return getattr(graph_numpy_library, method)(self.tracer, name, *inputs, **options)
        if method == "__call__" and name in ("divmod", "modf"):
            return self._two_results(name, inputs)
        if method == "__call__" and out and options.get("where", True) is not True and name in UFUNCS:
            return self._where(ufunc, inputs, out[0], options)
        if method != "__call__" or name not in UFUNCS or options.get("where", True) is not True:
            return functions.unknown(self.tracer, f"numpy.{name}" + ("" if method == "__call__" else f".{method}"),
                                     lambda: getattr(ufunc, method)(*plain(inputs), **plain(options)), inputs)
        return self._ufunc(ufunc, inputs, out, options)

    def _two_results(self, name, inputs):
        if name == "divmod":
            return numpy.floor_divide(*inputs), numpy.remainder(*inputs)
        whole = numpy.trunc(inputs[0])
        return numpy.where(numpy.isinf(inputs[0]), inputs[0].dtype.type(0), inputs[0] - whole), whole

    def _where(self, ufunc, inputs, target, options):
        """The others stay as they are."""
        mask = self.tracer.wrap(options.pop("where"))
        if not isinstance(target, TracedArray):
            raise self.tracer.emit.refused("an update in place", f"{ufunc.__name__} writes into an array numpy made")
        result = self._ufunc(ufunc, inputs, None, options)
        return target._update(numpy.where(mask, result.astype(target.dtype), target))

    def _ufunc(self, ufunc, inputs, out, options):
        tracer = self.tracer
        with numpy.errstate(all="ignore"):
            data = numpy.asarray(ufunc(*plain(inputs), **options))
        operands = [None if one is None else tracer.operand(one) for one in inputs]
        common = numpy.result_type(*[one if isinstance(one, NUMBERS) and not isinstance(one, numpy.generic)
                                     else numpy.asarray(plain(one)).dtype for one in inputs if one is not None]).name
        if not any(isinstance(one, Value) for one in operands[:2]):
            operands[0] = tracer.wrap(inputs[0]).value
        value = UFUNCS[ufunc.__name__](tracer.emit, operands, data.dtype.name, common)
        value = tracer.emit.expand(value, data.shape)
        result = tracer.new(value, data, [one for one in inputs if not isinstance(one, NUMBERS)])
        if not out:
            return result
        target = out[0]
        if not isinstance(target, TracedArray):
            raise tracer.emit.refused("an update in place", f"{ufunc.__name__} writes into an array numpy made")
        return target._update(result)

    def __array_function__(self, func, types, args, kwargs):
        return functions.dispatch(self.tracer, func, args, kwargs)


def in_place(symbol):
    def method(self, other):
        return self._update(getattr(TracedArray, f"__{symbol}__")(self, other))
    return method


def as_method(name):
    def method(self, *args, **kwargs):
        return functions.call(self.tracer, name, (self, *args), kwargs)
    method.__name__ = name
    return method


for _symbol in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "matmul", "lshift",
                "rshift"):
    setattr(TracedArray, f"__i{_symbol}__", in_place(_symbol))
for _name in ("sum", "mean", "prod", "var", "std", "argmax", "argmin", "any", "all", "cumsum", "cumprod", "squeeze",
              "swapaxes", "clip", "dot", "take", "repeat", "argsort", "round", "ravel", "diagonal", "trace", "astype",
              "copy", "flatten", "transpose", "reshape", "ptp", "searchsorted"):
    setattr(TracedArray, _name, as_method(_name))
TracedArray.max, TracedArray.min = as_method("amax"), as_method("amin")


def _sort(self, axis=-1, **_):
    self._update(functions.call(self.tracer, "sort", (self, axis), {}))


def _fill(self, number):
    self[...] = number


TracedArray.sort, TracedArray.fill = _sort, _fill
