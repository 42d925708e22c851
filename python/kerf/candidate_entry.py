"""What is called in a candidate: ModelNew, AIKG's launcher functions, a torch extension, a test that drives one, SWFT."""

import contextlib
import os
import sys
import traceback

if __package__:
    from .candidate_call import NOWHERE
else:
    from candidate_call import NOWHERE


class Entry:
    """What to call: ModelNew, or AIKG's launcher function."""

    def __init__(self, candidate, side):
        self.candidate = candidate
        self.side = side
        self.model_class = None
        self.function = None
        self.kept = None

    def load(self):
        namespace = {"__name__": "candidate", "__file__": self.candidate["path"]}
        import types

        module = types.ModuleType("candidate")
        module.__dict__.update(namespace)
        sys.modules["candidate"] = module
        with open(self.candidate["path"], "rb") as file:
            source = file.read()
        exec(compile(source, self.candidate["path"], "exec"), module.__dict__)
        wanted = self.candidate.get("class", "ModelNew")
        self.model_class = getattr(module, wanted, None) if wanted else None
        names = self.candidate["functions"]
        for name in names:
            self.function = self.function or getattr(module, name, None)
        if self.model_class is None and self.function is None:
            missing = f"neither class {wanted} nor" if wanted else "no"
            raise LookupError(f"the module defines {missing} function {' or '.join(names)}")

    def arguments(self, call):
        values = []
        for wire, kind in zip(call.inputs, self.candidate["inputs"]):
            if kind["kind"] == "tensor":
                values.append(self.side.tensor(call, wire))
            elif wire.place == NOWHERE:
                values.append(kind.get("value"))
            else:
                numbers = self.side.tensor(call, wire).reshape(-1).tolist()
                values.append(numbers if kind["kind"] in ("ints", "floats") else numbers[0])
        return values

    def __call__(self, call, arguments):
        init = [one.get("value") for one in self.candidate["init"]]
        with self.side.no_grad():
            if self.model_class is None:
                return lambda: self.function(*arguments, *init)
            model = self.side.place(self.model_class(*init))
            state = {name: self.side.tensor(call, wire) for name, wire in zip(call.param_names, call.params)}
            if state:
                model = self.side.load_state(model, state)
            elif hasattr(model, "eval"):
                model = model.eval()
            if self.candidate.get("compile"):
                model = self.compiled(model, state)
            return lambda: model(*arguments)

    def compiled(self, model, state):
        """Compiling takes seconds: the compiled model is kept, its weights are replaced."""
        if self.kept is None:
            self.kept = (model, self.side.torch.compile(model))
        own, compiled = self.kept
        if state:
            self.side.load_state(own, state)
        return compiled


class Marked(Exception):
    """What the runner found out itself, in words the judge knows: "kerf:REASON text"."""

    def __init__(self, reason, text):
        super().__init__(f"kerf:{reason} {text}")


def load_extension(candidate):
    """Imports a torch extension; what it was built from decides how."""
    import importlib.util
    import types

    import torch

    path, name = candidate["library"], candidate["module"]
    if candidate["operators"]:
        torch.ops.load_library(path)
        return getattr(torch.ops, candidate["operators"])
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if not isinstance(module, types.ModuleType):
        raise ImportError(f"{name} is no module")
    return module


class ExtensionEntry(Entry):
    """What to call in a torch extension: the only function, the one named like the task, or forward."""

    def __init__(self, candidate, side):
        super().__init__(candidate, side)
        self.extension = None
        self.form = None

    def load(self):
        self.extension = load_extension(self.candidate)
        names = [name for name in dir(self.extension) if not name.startswith("_")]
        functions = [name for name in names if callable(getattr(self.extension, name)) and name != "name"]
        wanted = [name for name in self.candidate["functions"] if name in functions]
        if not wanted and not self.candidate["operators"] and len(functions) == 1:
            wanted = functions
        if not wanted and self.candidate["operators"]:
            wanted = [name for name in self.candidate["functions"] if hasattr(self.extension, name)]
        if not wanted:
            expected = " or ".join(self.candidate["functions"])
            raise Marked("entry_missing", f"no function {expected}; bound: {', '.join(names) or 'nothing'}")
        self.function = getattr(self.extension, wanted[0])

    def __call__(self, call, arguments):
        params = [self.side.tensor(call, wire) for wire in call.params]
        init = [one.get("value") for one in self.candidate["init"]]
        forms = [arguments + params + init, arguments + params, arguments + init, arguments]
        return lambda: self.first_that_fits(forms)

    def first_that_fits(self, forms):
        """pybind11 refuses arguments before it runs anything, so that forms of a call can be tried."""
        if self.form is not None:
            return self.function(*forms[self.form])
        refused = None
        for i, form in enumerate(forms):
            try:
                result = self.function(*form)
            except TypeError as error:
                if "incompatible function arguments" not in str(error):
                    raise
                refused = refused or error
                continue
            self.form = i
            return result
        raise Marked("bad_signature", str(refused).split("\n\nInvoked with")[0].replace("\n", " "))


class InlineEntry(Entry):
    """A Python file that compiles its extension itself. It is built already: load_inline() gives what was built."""

    def load(self):
        import torch.utils.cpp_extension

        extension = load_extension(self.candidate)
        torch.utils.cpp_extension.load_inline = lambda *_, **__: extension
        super().load()


class SwftEntry(Entry):
    """AIKG's convention: {op}_swft_{framework}(device_id=…) returns nothing. It reads {op}/input/input{i}.bin beside its
    own file and writes {op}/output/output{i}_actual.bin: raw bytes of tensors, numbered by their position."""

    def load(self):
        # Some find their files by their own path, some by the current folder.
        os.chdir(os.path.dirname(self.candidate["path"]))
        self.candidate = dict(self.candidate, **{"class": ""})
        super().load()

    def path(self, kind, name):
        return os.path.join(os.path.dirname(self.candidate["path"]), self.candidate["op_name"], kind, name)

    def __call__(self, call, arguments):
        for kind in ("input", "output"):
            os.makedirs(self.path(kind, ""), exist_ok=True)
            for name in os.listdir(self.path(kind, "")):
                os.unlink(self.path(kind, name))
        for i, (wire, kind) in enumerate(zip(call.inputs, self.candidate["inputs"])):
            if kind["kind"] == "tensor":
                with open(self.path("input", f"input{i}.bin"), "wb") as file:
                    file.write(call.raw(wire))
        return lambda: self.run(call)

    def run(self, call):
        self.function(device_id=int(os.environ.get("DEVICE_ID", "0")))
        return [self.output(i, wire) for i, wire in enumerate(call.outputs)]

    def output(self, index, wire):
        """Files have no shape: one of another length is an array of its own length, which the judge refuses."""
        name = f"output{index}_actual.bin"
        try:
            with open(self.path("output", name), "rb") as file:
                raw = file.read()
        except FileNotFoundError:
            raise FileNotFoundError(f"it did not write {self.candidate['op_name']}/output/{name}") from None
        return self.side.from_raw(raw, wire)


def emulated_device():
    """A mode in which torch takes "cuda" for the CPU, where an extension's kernels are emulated."""
    import torch
    from torch.overrides import TorchFunctionMode

    def moved(value):
        if isinstance(value, str) and value.split(":")[0] in ("cuda", "hip"):
            return "cpu"
        if isinstance(value, torch.device) and value.type in ("cuda", "hip"):
            return torch.device("cpu")
        return value

    class Emulated(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            if getattr(func, "__name__", "") == "cuda" and args:
                return args[0]
            if func is is_cuda:
                return True
            kwargs = {key: moved(value) for key, value in (kwargs or {}).items()}
            return func(*[moved(value) for value in args], **kwargs)

    is_cuda = torch.Tensor.is_cuda.__get__
    torch.cuda.is_available = lambda: True
    torch.cuda.synchronize = lambda *_: None
    torch.cuda.empty_cache = lambda: None
    torch.cuda.current_device = lambda: 0
    torch.cuda.device_count = lambda: 1
    torch.cuda.device = lambda *_: contextlib.nullcontext()
    return Emulated()


class TestEntry(ExtensionEntry):
    """A test that imports the extension, or calls its functions by their bare names. It runs as part of loading."""

    def __init__(self, candidate, side, watch):
        super().__init__(candidate, side)
        self.watch = watch  # makes a log of operations that compute something
        self.again = None  # runs the test once more
        self.runs = 0
        self.result = None
        self.computed = []

    def load(self):
        self.extension = load_extension(self.candidate)
        names = [name for name in dir(self.extension) if not name.startswith("_")]
        sys.modules[self.candidate["module"]] = self.extension
        if not self.candidate["operators"]:
            for name in names:
                if callable(getattr(self.extension, name)):
                    setattr(self.extension, name, self.watched(getattr(self.extension, name)))
        self.run({name: getattr(self.extension, name) for name in names})
        if self.computed:
            raise Marked("library_fallback", "it computes outside its kernels: " + ", ".join(self.computed[:8]))

    def watched(self, function):
        def call(*args, **kwargs):
            if self.runs > 1:  # on the clock
                return function(*args, **kwargs)
            with self.watch() as log:
                result = function(*args, **kwargs)
            self.computed += [name for name in log.found if name not in self.computed]
            return result

        return call

    def run(self, namespace):
        names = list(namespace)
        try:
            self.execute(self.candidate["path"], namespace)
        except Marked:
            raise
        except SystemExit as error:
            if error.code not in (None, 0):
                raise Marked("raised", f"the test ended with exit code {error.code}") from None
        except BaseException as error:  # noqa: BLE001
            raise Marked(self.reason(error), self.explained(error, names)) from None

    def execute(self, path, namespace):
        namespace.update({"__name__": "__main__", "__file__": path})
        with open(path, "rb") as file:
            text = file.read()
        at = self.candidate.get("test_at", 0)
        device = emulated_device() if self.candidate["device"] == "cpu" else contextlib.nullcontext()
        with device:
            exec(compile(text[:at], path, "exec"), namespace)
        self.provide_module(namespace)
        # The lines of the test keep the numbers they have in the file.
        test = compile(b"\n" * text[:at].count(b"\n") + text[at:], path, "exec")

        def run():
            # Fresh memory holds NaN then, and nobody finds an earlier result there. Not while it is timed.
            self.side.torch._C._set_deterministic_algorithms(self.runs == 0, warn_only=True)
            self.seed()
            namespace.pop("result_gold", None)
            try:
                with device:
                    exec(test, namespace)
                self.side.synchronize()
            finally:  # a test may end with sys.exit(0)
                self.result = namespace.get("result_gold")

        self.again = run
        run()

    def provide_module(self, namespace):
        """A test may import the extension by name; an original source in its place has that name."""
        import types

        name = self.candidate["module"]
        if name and name not in sys.modules:
            module = sys.modules[name] = types.ModuleType(name)
            module.__dict__.update(namespace)

    def seed(self):
        """Every run draws inputs of its own."""
        import random

        import numpy

        seed = self.candidate["seed"] + self.runs
        self.runs += 1
        random.seed(seed)
        numpy.random.seed(seed % (1 << 32))
        self.side.torch.manual_seed(seed)

    def reason(self, error):
        text = str(error)
        module = self.candidate["module"]
        if isinstance(error, AssertionError):
            return "value"
        if isinstance(error, AttributeError) and f"module '{module}'" in text:
            return "symbol_mismatch"
        if isinstance(error, NameError) or (isinstance(error, ImportError) and "cannot import name" in text):
            return "symbol_mismatch"
        if isinstance(error, ModuleNotFoundError):
            return "import_failed"
        if isinstance(error, TypeError) and "incompatible function arguments" in text:
            return "bad_signature"
        return "raised"

    def place(self, number):
        """Of a script, the test begins behind the code."""
        at = self.candidate.get("test_at", 0)
        with open(self.candidate["path"], "rb") as file:
            before = file.read(at).count(b"\n")
        return f"line {number - before} of the test" if number > before else f"line {number} of the code"

    def explained(self, error, names):
        where = [one for one in traceback.extract_tb(error.__traceback__) if one.filename == self.candidate["path"]]
        line = f" ({self.place(where[-1].lineno)})" if where else ""
        text = str(error).split("\n\nInvoked with")[0].replace("\n", " ")
        bound = f"; bound: {', '.join(names)}" if names and self.reason(error) == "symbol_mismatch" else ""
        return f"{type(error).__name__}: {text}{line}{bound}"


class ScriptEntry(TestEntry):
    """Python code with its test behind it in one file, as GEAK runs them. It runs as part of loading."""

    def load(self):
        self.run({})


def entry_for(candidate, side, watch=None):
    if candidate["impl"] == "script":
        return ScriptEntry(candidate, side, watch)
    if candidate["impl"] == "swft":
        return SwftEntry(candidate, side)
    if candidate["impl"] != "torch_ext":
        return Entry(candidate, side)
    if candidate.get("inline"):
        return InlineEntry(candidate, side)
    return TestEntry(candidate, side, watch) if candidate.get("test") else ExtensionEntry(candidate, side)
