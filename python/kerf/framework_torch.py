"""PyTorch. A model's parameters are its state_dict(), then buffers that are not in it, then plain attributes."""

import contextlib
import copy
import ctypes

import torch

from kerf import frameworks, values

try:
    from torch.utils._python_dispatch import TorchDispatchMode
except ImportError:  # before 1.13
    TorchDispatchMode = None

SUPPORTED = {name: getattr(torch, name) for name in (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float8_e4m3fn", "float8_e5m2",
    "float16", "bfloat16", "float32", "float64", "complex64", "complex128") if hasattr(torch, name)}
NAMES = {dtype: name for name, dtype in SUPPORTED.items()}


def _bytes_at(tensor, count):
    array = (ctypes.c_ubyte * count).from_address(tensor.data_ptr())
    array.tensor = tensor  # the memory is the tensor's and must live as long as the view
    return memoryview(array).cast("B")


# A whole sort instead of a few of the largest costs little up to this many elements.
SORTED_WHOLE = 1 << 22


def _sort_in_order(tensor, dim=-1, descending=False):
    return torch.ops.aten.sort.stable(tensor, stable=True, dim=dim, descending=descending)


def _topk_in_order(tensor, k, dim=-1, largest=True, sorted=True):
    if not sorted or tensor.dim() == 0 or tensor.numel() > SORTED_WHOLE or not 0 <= k <= tensor.shape[dim]:
        return torch.ops.aten.topk.default(tensor, k, dim, largest, sorted)
    return tuple(found.narrow(dim, 0, k) for found in _sort_in_order(tensor, dim, largest))


# What may put equal elements in any order, and the same with the first of them first. The reference shows one order of
# theirs, the oracle the one that most kernels choose.
IN_ORDER = {torch.ops.aten.sort.default: _sort_in_order, torch.ops.aten.topk.default: _topk_in_order}


if TorchDispatchMode is not None:
    class _Widen(TorchDispatchMode):
        """Where a model asks for a narrow float by name, it gets the wide one: .float(), zeros(dtype=…).

        Equal elements are sorted in their order."""

        @classmethod
        def _should_skip_dynamo(cls):
            return False  # torch would import its compiler, more than a second, to keep it out of this class

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            kwargs = dict(kwargs or {})
            name = NAMES.get(kwargs.get("dtype"))
            if name is not None:
                kwargs["dtype"] = SUPPORTED[frameworks.oracle_dtype(name)]
            return IN_ORDER.get(func, func)(*args, **kwargs)


class Framework:
    name = "torch"
    version = str(torch.__version__)

    def seed(self, seed):
        frameworks.seed_everything(seed)
        torch.manual_seed(seed)

    def set_threads(self, count):
        torch.set_num_threads(count)

    def is_tensor(self, value):
        return isinstance(value, torch.Tensor)

    def dtype(self, tensor):
        if tensor.dtype not in NAMES:
            raise TypeError(f"tensors of {tensor.dtype} are not supported")
        return NAMES[tensor.dtype]

    def shape(self, tensor):
        return [int(size) for size in tensor.shape]

    def buffer(self, tensor):
        self.dtype(tensor)
        tensor = tensor.detach()
        if tensor.layout != torch.strided:
            tensor = tensor.to_dense()
        tensor = tensor.cpu().resolve_conj().resolve_neg().contiguous()
        count = tensor.numel() * tensor.element_size()
        return _bytes_at(tensor, count) if count else memoryview(b"")

    def from_buffer(self, dtype, shape, buffer):
        tensor = torch.empty(shape, dtype=SUPPORTED[dtype])
        if len(buffer):
            _bytes_at(tensor, len(buffer))[:] = buffer
        return tensor

    def scalar(self, value):
        if isinstance(value, bool):
            return torch.tensor(value)
        dtype = {int: torch.int64, float: torch.float64, complex: torch.complex128}[
            next(kind for kind in (int, float, complex) if isinstance(value, kind))]
        return torch.tensor(value, dtype=dtype)

    def copy(self, tensor):
        return tensor.detach().clone()

    def prepare(self, model):
        return model.eval() if isinstance(model, torch.nn.Module) else model

    def _modules(self, model):
        """[(prefix, holder)] of everything that has attributes."""
        if not isinstance(model, torch.nn.Module):
            return [("", model)]
        return [(prefix + "." if prefix else "", module) for prefix, module in model.named_modules()]

    def tensors_of(self, model):
        found = {}
        if isinstance(model, torch.nn.Module):
            found.update((name, value) for name, value in model.state_dict(keep_vars=True).items()
                         if self.is_tensor(value))
            found.update((name, value) for name, value in model.named_buffers() if name not in found)
        known = {id(tensor) for tensor in found.values()}
        for prefix, module in self._modules(model):
            for name, value in self._attributes(module):
                for leaf, tensor in values.Call((), {prefix + name: value}).leaves(self):
                    # Recurrent layers keep a list of their parameters, for instance.
                    if self.is_tensor(tensor) and id(tensor) not in known:
                        found.setdefault(leaf, tensor)
        return list(found.items())

    def _attributes(self, module):
        """Plain ones: nn.Module keeps its registered tensors in dictionaries whose names begin with '_'."""
        registered = ("_parameters", "_buffers", "_modules")
        return [item for item in frameworks.attributes(self, module, values.holds_tensor)
                if item[0] not in registered]

    def set_tensor(self, model, name, tensor):
        dict(self.tensors_of(model))[name].data = tensor.detach()

    def call(self, model, call):
        function = model if callable(model) else model.forward
        with torch.no_grad():
            return function(*call.args, **call.kwargs)

    def copy_model(self, model):
        return copy.deepcopy(model)

    def cast(self, tensor, table):
        target = table.get(NAMES.get(tensor.dtype))
        return tensor if target is None else tensor.detach().to(SUPPORTED[target])

    def cast_model(self, model, table):
        known = set()
        if isinstance(model, torch.nn.Module):
            model._apply(lambda tensor: self.cast(tensor, table))  # what .double() and .half() are made of
            known = {id(tensor) for tensor in [*model.parameters(), *model.buffers()]}

        def cast(tensor):
            return tensor if id(tensor) in known else self.cast(tensor, table)

        for _, module in self._modules(model):
            for name, value in self._attributes(module):
                setattr(module, name, values.map_tensors(self, value, cast))

    @contextlib.contextmanager
    def computing_in(self, dtype):
        """Constants made inside are of this dtype; with float64, what asks for less by name gets it too."""
        before = torch.get_default_dtype()
        if dtype in ("float64", "float32", "float16", "bfloat16"):
            torch.set_default_dtype(SUPPORTED[dtype])
        try:
            if dtype == "float64" and TorchDispatchMode is not None:
                with _Widen():
                    yield
            else:
                yield
        finally:
            torch.set_default_dtype(before)

    def can_lower_to(self, dtype):
        return True

    def draw_like(self, tensor, shape):
        """Another tensor with that one's dtype, range and spread."""
        if tensor.numel() == 0:
            return torch.zeros(shape, dtype=tensor.dtype)
        if tensor.dtype == torch.bool:
            return torch.rand(shape) < tensor.double().mean()
        if not (tensor.is_floating_point() or tensor.is_complex()):
            low, high = int(tensor.min()), int(tensor.max())
            return torch.randint(low, high + 1, shape).to(tensor.dtype)
        wide = tensor.detach().to(torch.complex128 if tensor.is_complex() else torch.float64)
        spread = wide.std(unbiased=False)
        draw = torch.randn(shape, dtype=wide.dtype) * spread + wide.mean()
        if not tensor.is_complex():
            draw = draw.clamp(wide.min(), wide.max())
        return draw.to(tensor.dtype)

    def perturb(self, tensor):
        """A tensor that differs in every element."""
        tensor = tensor.detach()
        if tensor.dtype == torch.bool:
            return ~tensor
        if tensor.is_floating_point() or tensor.is_complex():
            wide = tensor.to(torch.complex128 if tensor.is_complex() else torch.float64)
            return (wide * 1.25 + torch.rand(tensor.shape, dtype=torch.float64) + 0.5).to(tensor.dtype)
        flipped = tensor.flip(tuple(range(tensor.dim())))
        return tensor + 1 if torch.equal(flipped, tensor) else flipped

    def shake(self, tensor, amount, turn=0):
        """Every element off by that share of itself, up or down, the same way each time and another one in each turn."""
        if not (tensor.is_floating_point() or tensor.is_complex()):
            return tensor
        generator = torch.Generator().manual_seed(tensor.numel() * 1009 + turn)
        signs = torch.randint(0, 2, tensor.shape, generator=generator) * 2 - 1
        return tensor.detach() * (1 + amount * signs.to(torch.float64))

    def distance(self, one, other, unit):
        """|one - other| in units of `unit`, in float32."""
        return ((one - other).abs() / unit).to(torch.float32)

    def compiled(self, model):
        return torch.compile(model)

    def work_counter(self):
        """A context in which operations are counted; None where that cannot be."""
        if TorchDispatchMode is None:
            return None
        from kerf.task_work import WorkMode
        return WorkMode()
