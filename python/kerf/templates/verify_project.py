#!/usr/bin/env python3
"""Runs one candidate beside its task's reference and compares; left by `kerf verify --keep`. Needs no kerf.

    python3 @SCRIPT@ [--seeds 0,1,2] [--rtol R] [--atol A]

Exit code 0: every output agrees. 1: one does not, or the candidate does not build or run. 2: it could not be found out,
because a compiler, a package or a device is missing.

The candidate runs as you, without a sandbox: read it first. The tolerance is a plain one, |got - want| <= atol + rtol *
|want|; verdict.json holds kerf's own, stricter verdict.
"""

import argparse
import ctypes
import faulthandler
import inspect
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
import types

PROJECT = {}

HERE = os.path.dirname(os.path.abspath(__file__))
# For each type: its DLPack code, its bits, and the relative tolerance (0: exact).
DTYPES = {
    "bool": (6, 8, 0), "int8": (0, 8, 0), "int16": (0, 16, 0), "int32": (0, 32, 0), "int64": (0, 64, 0),
    "uint8": (1, 8, 0), "uint16": (1, 16, 0), "uint32": (1, 32, 0), "uint64": (1, 64, 0),
    "float8_e4m3fn": (10, 8, 0.13), "float8_e5m2": (12, 8, 0.25), "float16": (2, 16, 1e-2), "bfloat16": (4, 16, 3e-2),
    "float32": (2, 32, 1e-4), "float64": (2, 64, 1e-7), "complex64": (5, 64, 1e-4), "complex128": (5, 128, 1e-7)}


class Missing(Exception):
    """Something this machine lacks."""


class Broken(Exception):
    """The candidate does not build or does not run."""


# The frameworks.


class Numpy:
    def __init__(self):
        import numpy
        self.numpy = numpy

    def seed(self, seed):
        random.seed(seed)
        self.numpy.random.seed(seed % 2**32)

    def is_tensor(self, value):
        return isinstance(value, self.numpy.ndarray) or (
            isinstance(value, self.numpy.generic) and not isinstance(value, float))

    def dtype(self, tensor):
        return tensor.dtype.name

    def raw(self, tensor):
        return self.numpy.ascontiguousarray(tensor).tobytes()

    def from_raw(self, dtype, shape, raw):
        return self.numpy.frombuffer(bytearray(raw), dtype=dtype).reshape(shape)

    def scalar(self, value):
        return self.numpy.asarray(value)

    def copy(self, tensor):
        return tensor.copy()

    def wide(self, tensor):
        return self.numpy.asarray(tensor)

    def prepare(self, model):
        return model

    def tensors_of(self, model):
        return [leaf for name, value in vars(model).items() if holds_tensor(self, value) and not name.startswith("__")
                for leaf in leaves(self, name, value) if self.is_tensor(leaf[1])]

    def take_over(self, model, reference):
        for name, value in vars(reference).items():
            if holds_tensor(self, value):
                setattr(model, name, value)

    def call(self, function, args, kwargs):
        return (function if callable(function) else function.forward)(*args, **kwargs)


class Torch(Numpy):
    def __init__(self):
        super().__init__()
        import torch
        self.torch = torch
        self.device = "cuda" if PROJECT["backend"] == "cuda" and PROJECT["impl"] == "triton" else "cpu"

    def seed(self, seed):
        super().seed(seed)
        self.torch.manual_seed(seed)

    def is_tensor(self, value):
        return isinstance(value, self.torch.Tensor)

    def dtype(self, tensor):
        return str(tensor.dtype).removeprefix("torch.")

    def raw(self, tensor):
        tensor = tensor.detach().cpu().contiguous()
        return tensor.reshape(-1).view(self.torch.uint8).numpy().tobytes() if tensor.numel() else b""

    def from_raw(self, dtype, shape, raw):
        kind = getattr(self.torch, dtype)
        if not raw:
            return self.torch.empty(shape, dtype=kind)
        return self.torch.frombuffer(bytearray(raw), dtype=self.torch.uint8).view(kind).reshape(shape)

    def scalar(self, value):
        return self.torch.from_numpy(self.numpy.asarray(value))

    def copy(self, tensor):
        return tensor.detach().clone().to(self.device)

    def wide(self, tensor):
        tensor = tensor.detach().cpu()
        if self.dtype(tensor) in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
            tensor = tensor.to(self.torch.float64)
        return tensor.resolve_conj().numpy()

    def prepare(self, model):
        return model.eval() if isinstance(model, self.torch.nn.Module) else model

    def tensors_of(self, model):
        found, modules = {}, [("", model)]
        if isinstance(model, self.torch.nn.Module):
            found = {name: value for name, value in model.state_dict(keep_vars=True).items() if self.is_tensor(value)}
            found.update((name, value) for name, value in model.named_buffers() if name not in found)
            modules = [(prefix + "." if prefix else "", module) for prefix, module in model.named_modules()]
        known = {id(tensor) for tensor in found.values()}
        for prefix, module in modules:
            for name, value in vars(module).items():
                registered = name.startswith("__") or name in ("_parameters", "_buffers", "_modules")
                if not registered and holds_tensor(self, value):
                    for leaf, tensor in leaves(self, prefix + name, value):
                        if self.is_tensor(tensor) and id(tensor) not in known:
                            found.setdefault(leaf, tensor)
        return list(found.items())

    def take_over(self, model, reference):
        if not isinstance(reference, self.torch.nn.Module) or not hasattr(model, "load_state_dict"):
            return
        state, own = reference.state_dict(), model.state_dict()
        same = [list(value.shape) for value in own.values()] == [list(value.shape) for value in state.values()]
        if list(own) != list(state) and same:  # renamed, but the same tensors in the same order
            state = dict(zip(own, state.values()))
        model.load_state_dict(state)
        model.to(self.device)

    def call(self, function, args, kwargs):
        with self.torch.no_grad():
            return super().call(function, args, kwargs)


class Mindspore(Numpy):
    def __init__(self):
        super().__init__()
        import mindspore
        self.mindspore = mindspore
        mindspore.set_context(mode=mindspore.PYNATIVE_MODE)

    def seed(self, seed):
        super().seed(seed)
        self.mindspore.set_seed(seed)

    def is_tensor(self, value):
        return isinstance(value, self.mindspore.Tensor)

    def dtype(self, tensor):
        return str(tensor.dtype).lower().removesuffix("_")

    def raw(self, tensor):
        return super().raw(tensor.asnumpy())

    def from_raw(self, dtype, shape, raw):
        return self.mindspore.Tensor(super().from_raw(dtype, shape, raw))

    def scalar(self, value):
        return self.mindspore.Tensor(self.numpy.asarray(value))

    def wide(self, tensor):
        return tensor.asnumpy()

    def prepare(self, model):
        return model.set_train(False) if hasattr(model, "set_train") else model

    def tensors_of(self, model):
        return list(model.parameters_and_names()) if hasattr(model, "parameters_and_names") else []

    def take_over(self, model, reference):
        for (_, own), (_, value) in zip(self.tensors_of(model), self.tensors_of(reference)):
            own.set_data(value)


def holds_tensor(framework, value):
    if isinstance(value, dict):
        value = list(value.values())
    return framework.is_tensor(value) or (
        isinstance(value, (list, tuple)) and any(holds_tensor(framework, item) for item in value))


def leaves(framework, name, value):
    """[(name, value)]: a container that holds a tensor counts as its items."""
    if framework.is_tensor(value) or not holds_tensor(framework, value):
        return [(name, value)]
    items = value.items() if isinstance(value, dict) else enumerate(value)
    return [leaf for key, item in items for leaf in leaves(framework, f"{name}.{key}", item)]


def copied(framework, value):
    """The same with tensors of its own."""
    if framework.is_tensor(value):
        return framework.copy(value)
    if isinstance(value, dict):
        return {key: copied(framework, item) for key, item in value.items()}
    if isinstance(value, (list, tuple)) and holds_tensor(framework, value):
        items = [copied(framework, item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return value


def outputs_of(framework, value):
    if framework.is_tensor(value):
        return [value]
    if isinstance(value, (bool, int, float, complex)):
        return [framework.scalar(value)]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in outputs_of(framework, item)]
    if value is None:
        return []
    raise Broken(f"a result is a {type(value).__name__}, which is no tensor")


# The task.


def load_module(file_name, name):
    path = os.path.join(HERE, file_name)
    module = types.ModuleType(name)
    module.__file__ = path
    sys.modules[name] = module
    with open(path, "rb") as file:
        exec(compile(file.read(), path, "exec"), module.__dict__)
    return module


def as_call(framework, inputs):
    """(arguments, keyword arguments) of what get_inputs() returned."""
    if isinstance(inputs, dict):
        return (), inputs
    return (tuple(inputs), {}) if isinstance(inputs, (list, tuple)) else ((inputs,), {})


def as_init(model_class, init):
    """The same of get_init_inputs(), which may also be [arguments, keyword arguments]."""
    if isinstance(init, (list, tuple)) and len(init) == 2 and isinstance(init[0], (list, tuple)) and \
            isinstance(init[1], dict):
        names = inspect.signature(model_class.__init__).parameters
        if (init[0] or init[1]) and all(key in names for key in init[1]):
            return tuple(init[0]), init[1]
    return as_call(None, [] if init is None else init)


class Case:
    """One draw of the inputs, with the reference's answers."""

    def __init__(self, framework, task, model, init, call, title):
        self.model, self.init, self.title = model, init, title
        self.args, self.kwargs = copied(framework, list(call[0])), copied(framework, call[1])
        if getattr(framework, "device", "cpu") == "cuda":
            model.to("cuda")
            call = copied(framework, list(call[0])), copied(framework, call[1])
        self.wanted = outputs_of(framework, framework.call(model, *call))

    def inputs(self, framework):
        """[(name, value)], leaves only."""
        found = [leaf for i, value in enumerate(self.args) for leaf in leaves(framework, f"input{i}", value)]
        return found + [leaf for key, value in self.kwargs.items() for leaf in leaves(framework, key, value)]


def draw_cases(framework, task, seed):
    framework.seed(seed)
    init = as_init(task.Model, task.get_init_inputs())
    model = framework.prepare(task.Model(*init[0], **init[1]))
    framework.seed(seed)
    variants = task.get_inputs_dyn_list() if hasattr(task, "get_inputs_dyn_list") else [task.get_inputs()]
    for number, inputs in enumerate(variants):
        title = f"seed {seed}" + (f", variant {number}" if len(variants) > 1 else "")
        yield Case(framework, task, model, init, as_call(framework, inputs), title)


# Candidates that are C functions over DLPack tensors: kerf/kernel.h.


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class KerfCall(ctypes.Structure):
    _fields_ = [("abi_version", ctypes.c_uint32), ("n_inputs", ctypes.c_int32), ("n_params", ctypes.c_int32),
                ("n_init", ctypes.c_int32), ("n_outputs", ctypes.c_int32), ("inputs", ctypes.POINTER(DLTensor)),
                ("params", ctypes.POINTER(DLTensor)), ("init", ctypes.POINTER(DLTensor)),
                ("outputs", ctypes.POINTER(DLTensor)), ("param_names", ctypes.POINTER(ctypes.c_char_p)),
                ("stream", ctypes.c_void_p), ("threads", ctypes.c_int32)]


class HostMemory:
    device_type = 1  # kDLCPU

    def place(self, raw):
        buffer = ctypes.create_string_buffer(bytes(raw), max(len(raw), 1))
        return ctypes.addressof(buffer), buffer

    def read(self, address, size):
        return ctypes.string_at(address, size)

    def wait(self):
        pass


class DeviceMemory:
    """Of an accelerator, through the run time the candidate is linked with."""

    def __init__(self, library, prefix, device_type):
        self.library, self.prefix, self.device_type = library, prefix, device_type

    def do(self, name, *args):
        code = getattr(self.library, self.prefix + name)(*args)
        if code != 0:
            raise Broken(f"{self.prefix}{name} fails with {code}")

    def copy(self, to, source, size, kind):
        self.do("Memcpy", ctypes.c_void_p(to), ctypes.c_void_p(source), ctypes.c_size_t(size), kind)

    def place(self, raw):
        address = ctypes.c_void_p()
        self.do("Malloc", ctypes.byref(address), ctypes.c_size_t(max(len(raw), 1)))
        buffer = ctypes.create_string_buffer(bytes(raw), max(len(raw), 1))
        self.copy(address.value, ctypes.addressof(buffer), len(raw), 1)
        return address.value, address

    def read(self, address, size):
        buffer = ctypes.create_string_buffer(max(size, 1))
        self.copy(ctypes.addressof(buffer), address, size, 2)
        return buffer.raw[:size]

    def wait(self):
        self.do("DeviceSynchronize")


class Native:
    """A candidate of impl cpp, cuda_c or hip."""

    def __init__(self, framework, folder):
        self.framework = framework
        library = os.path.join(folder, "candidate.so")
        command, what = self.compiler(library)
        print("$ " + " ".join(command), flush=True)
        if subprocess.run(command, check=False).returncode != 0:
            raise Broken("it does not build")
        try:
            self.library = ctypes.CDLL(library)
            self.function = self.library.kerf_kernel
        except (OSError, AttributeError) as error:
            raise Missing(str(error)) if "libcuda" in str(error) else Broken(f"it cannot be loaded: {error}") from error
        self.memory = {"cpp": HostMemory(), "cuda_c": DeviceMemory(self.library, "cuda", 2),
                       "hip": DeviceMemory(self.library, "hip", 10)}[what]
        if what != "cpp":
            self.find_device()

    def compiler(self, library):
        what = PROJECT["impl"]
        source = ["-I", HERE, os.path.join(HERE, PROJECT["candidate"]), "-o", library]
        if what == "cpp":
            program = next(filter(shutil.which, filter(None, [os.environ.get("CXX"), "g++", "clang++"])), None)
            if program is None:
                raise Missing("no C++ compiler: install g++, or name one in CXX")
            return [program, *PROJECT["flags"], *source], what
        program = shutil.which("nvcc" if what == "cuda_c" else "hipcc")
        if program is None:
            tool = "nvcc of the CUDA toolkit" if what == "cuda_c" else "hipcc of ROCm"
            raise Missing(f"{tool} is not on PATH; `kerf verify` runs the candidate on the CPU without it")
        if what == "hip":
            return [program, "-shared", "-fPIC", "-O3", "-std=c++17", *source], what
        root = os.path.dirname(os.path.dirname(os.path.realpath(program)))
        return [program, "-shared", "-Xcompiler", "-fPIC", "-O3", "-std=c++17", "-cudart", "shared", "-Xlinker",
                f"-rpath={root}/lib64", *source], what

    def find_device(self):
        count = ctypes.c_int(0)
        code = getattr(self.library, self.memory.prefix + "GetDeviceCount")(ctypes.byref(count))
        if code != 0 or count.value == 0:
            raise Missing(f"it builds, but there is no device to run it on ({self.memory.prefix}GetDeviceCount: {code})")

    def describe(self, value, kept, memory=None):
        """A DLTensor of the value; what it points to goes to `kept`."""
        framework, tensor = self.framework, DLTensor(device_type=1, lanes=1)
        if framework.is_tensor(value):
            memory = memory or self.memory
            dtype, shape, raw = framework.dtype(value), list(value.shape), framework.raw(value)
        else:
            memory, many = HostMemory(), value if isinstance(value, (list, tuple)) else [value]
            if not all(isinstance(item, (bool, int, float)) for item in many):
                return tensor  # None, strings and so on: a null pointer
            kind = bool if isinstance(value, bool) else float if any(isinstance(i, float) for i in many) else int
            dtype = {bool: "bool", float: "float64", int: "int64"}[kind]
            shape = [len(value)] if many is value else []
            import numpy
            raw = numpy.asarray(many, dtype=dtype).tobytes()
        tensor.data, owner = memory.place(raw)
        tensor.device_type, tensor.ndim = memory.device_type, len(shape)
        tensor.code, tensor.bits = DTYPES[dtype][:2]
        strides = [1] * len(shape)
        for i in reversed(range(len(shape) - 1)):
            strides[i] = strides[i + 1] * shape[i + 1]
        sizes = [(ctypes.c_int64 * max(len(shape), 1))(*numbers) for numbers in (shape, strides)]
        tensor.shape, tensor.strides = (ctypes.cast(one, ctypes.POINTER(ctypes.c_int64)) for one in sizes)
        kept.append((owner, sizes))
        return tensor

    def __call__(self, case):
        framework, kept = self.framework, []
        tensors = framework.tensors_of(case.model)
        # Bytes that are NaN in every float type: what the candidate does not write shows.
        blank = [framework.from_raw(framework.dtype(want), list(want.shape), b"\xff" * len(framework.raw(want)))
                 for want in case.wanted]
        parts = [[value for _, value in case.inputs(framework)], [tensor for _, tensor in tensors],
                 [*case.init[0], *case.init[1].values()], blank]
        parts[2] = [None if framework.is_tensor(value) else value for value in parts[2]]
        arrays = [(DLTensor * max(len(part), 1))(*[self.describe(value, kept) for value in part]) for part in parts]
        names = (ctypes.c_char_p * max(len(tensors), 1))(*[name.encode() for name, _ in tensors])
        call = KerfCall(1, *map(len, parts), *arrays, names, None, os.cpu_count() or 1)
        code = self.function(ctypes.byref(call))
        if code != 0:
            raise Broken(f"it returned {code}")
        self.memory.wait()
        return [framework.from_raw(framework.dtype(want), list(want.shape),
                                   self.memory.read(arrays[3][i].data, len(framework.raw(want))))
                for i, want in enumerate(case.wanted)]


# Candidates that are Python.


class Module:
    """ModelNew, or AIKG's launcher {op}_{impl}_{framework}(*inputs)."""

    def __init__(self, framework):
        self.framework = framework
        if PROJECT["backend"] == "cpu":
            os.environ["TRITON_INTERPRET"] = "1"  # Triton on the CPU; read when it is imported
        module = load_module(PROJECT["candidate"], "candidate")
        self.model_class = getattr(module, "ModelNew", None)
        name = f"{PROJECT['op']}_{PROJECT['impl']}_{PROJECT['framework']}"
        self.function = getattr(module, name, None)
        if self.model_class is None and self.function is None:
            raise Broken(f"it defines neither class ModelNew nor function {name}")

    def __call__(self, case):
        framework = self.framework
        args, kwargs = copied(framework, list(case.args)), copied(framework, case.kwargs)
        if self.model_class is None:
            return framework.call(self.function, [*args, *case.init[0]], {**kwargs, **case.init[1]})
        model = framework.prepare(self.model_class(*case.init[0], **case.init[1]))
        framework.take_over(model, case.model)
        return framework.call(model, args, kwargs)


class Swft:
    """AIKG's SWFT convention: {op}_swft_{framework}(device_id), data in files beside the script."""

    def __init__(self, framework, folder):
        self.framework, self.folder = framework, folder
        try:
            import swft  # noqa: F401
        except ImportError as error:
            raise Missing(f"the package swft is not there ({error}); build it from the folder swft of "
                          "github.com/mindspore-ai/akg") from error
        shutil.copy(os.path.join(HERE, PROJECT["candidate"]), folder)
        os.chdir(folder)
        module = load_module(os.path.join(folder, PROJECT["candidate"]), "candidate")
        self.function = getattr(module, f"{PROJECT['op']}_swft_{PROJECT['framework']}")

    def __call__(self, case):
        framework, root = self.framework, os.path.join(self.folder, PROJECT["op"])
        shutil.rmtree(root, ignore_errors=True)
        for part in ("input", "output"):
            os.makedirs(os.path.join(root, part))
        for i, (_, value) in enumerate(case.inputs(framework)):
            if framework.is_tensor(value):
                with open(f"{root}/input/input{i}.bin", "wb") as file:
                    file.write(framework.raw(value))
        self.function(device_id=int(os.environ.get("DEVICE_ID", "0")))
        results = []
        for i, want in enumerate(case.wanted):
            with open(f"{root}/output/output{i}_actual.bin", "rb") as file:
                results.append(framework.from_raw(framework.dtype(want), list(want.shape), file.read()))
        return results


# Comparing.


def compare(framework, want, got, name, options):
    """True when they agree; prints what does not."""
    import numpy as np
    for what in ("dtype", "shape"):
        a, b = ((framework.dtype(t) if what == "dtype" else list(t.shape)) for t in (want, got))
        if a != b:
            print(f"  {name}: its {what} is {b}, expected {a}")
            return False
    dtype = framework.dtype(want)
    want, got = framework.wide(want), framework.wide(got)
    rtol = DTYPES[dtype][2] if options.rtol is None else options.rtol
    if dtype.startswith(("bool", "int", "uint")):
        want, got = want.astype(object), got.astype(object)  # Python's integers do not overflow
        error = np.abs(want.astype(float) - got.astype(float)) if want.size else np.zeros(want.shape)
        wrong = np.asarray(want != got, dtype=bool)
    else:
        want, got = (t.astype("complex128" if np.iscomplexobj(t) else "float64") for t in (want, got))
        with np.errstate(invalid="ignore"):
            error = np.abs(got - want)
            finite = np.abs(want[np.isfinite(want)])
            atol = (rtol * (finite.mean() if finite.size else 0)) if options.atol is None else options.atol
            equal = (want == got) | (np.isnan(want) & np.isnan(got))
            wrong = ~equal & ~(error <= atol + rtol * np.abs(want))
    count = int(wrong.sum())
    if count == 0:
        return True
    print(f"  {name}: {count} of {wrong.size} elements differ")
    rank = np.where(wrong, np.where(np.isnan(error), np.inf, error), -1).reshape(-1)
    for at in np.argsort(-rank, kind="stable")[: min(count, 8)]:
        index = [int(i) for i in np.unravel_index(at, wrong.shape)]
        print(f"    {index}: expected {want.reshape(-1)[at]}, got {got.reshape(-1)[at]}")
    return False


def make_candidate(framework, folder):
    impl = PROJECT["impl"]
    if impl in ("cpp", "cuda_c", "hip"):
        return Native(framework, folder)
    if impl == "swft":
        return Swft(framework, folder)
    if impl == "triton":
        return Module(framework)
    raise Missing(f"this script does not run candidates of impl {impl}")


def check(options, folder):
    try:
        framework = {"numpy": Numpy, "torch": Torch, "mindspore": Mindspore}[PROJECT["framework"]]()
    except ImportError as error:
        raise Missing(f"{error}; this interpreter is {sys.executable}") from error
    task = load_module(PROJECT["task"], "task")
    candidate = make_candidate(framework, folder)
    right = True
    for seed in options.seeds:
        for case in draw_cases(framework, task, seed):
            got = outputs_of(framework, candidate(case))
            print(f"{case.title}:", "" if len(got) == len(case.wanted) else
                  f"{len(got)} outputs, expected {len(case.wanted)}")
            same = len(got) == len(case.wanted)
            for i, (want, value) in enumerate(zip(case.wanted, got)):
                same = compare(framework, want, value, f"output{i}", options) and same
            print("  right" if same else "  wrong")
            right = right and same
    return right


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=lambda text: [int(word) for word in text.split(",")], default=PROJECT["seeds"])
    parser.add_argument("--rtol", type=float, help="relative tolerance; else by the output's type")
    parser.add_argument("--atol", type=float, help="absolute tolerance; else rtol times the mean magnitude")
    options = parser.parse_args()
    # In a process of its own: a candidate that crashes is an answer too.
    child = os.fork()
    if child == 0:
        code = run(options)
        sys.stdout.flush()
        os._exit(code)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        print(f"failed: it crashed ({signal.Signals(os.WTERMSIG(status)).name})", file=sys.stderr)
        return 1
    return os.WEXITSTATUS(status)


def run(options):
    faulthandler.enable()
    try:
        with tempfile.TemporaryDirectory(prefix="verify_") as folder:
            right = check(options, folder)
    except Missing as error:
        print(f"cannot find out: {error}", file=sys.stderr)
        return 2
    except Broken as error:
        print(f"failed: {error}", file=sys.stderr)
        return 1
    except BaseException:  # noqa: BLE001: of the candidate or the task; SystemExit must not end it well
        traceback.print_exc()
        print("failed: it raised", file=sys.stderr)
        return 1
    print("passed" if right else "failed")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
