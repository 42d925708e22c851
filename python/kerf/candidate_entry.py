"""What is called in a candidate: ModelNew, AIKG's launcher functions, a torch extension, a test that drives one, SWFT."""

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
            kwargs = {key: moved(value) for key, value in (kwargs or {}).items()}
            return func(*[moved(value) for value in args], **kwargs)

    torch.cuda.is_available = lambda: True
    torch.cuda.synchronize = lambda *_: None
    torch.cuda.empty_cache = lambda: None
    return Emulated()


def difference_of(expected, found, where):
    """How a result differs from the original's, by GEAK's own tolerances; empty when it does not."""
    import torch

    if isinstance(expected, torch.Tensor) and isinstance(found, torch.Tensor):
        if expected.shape != found.shape:
            return f"{where} has shape {tuple(found.shape)}, not {tuple(expected.shape)}"
        a, b = expected.detach().cpu().double(), found.detach().cpu().double()
        near = torch.isclose(b, a, rtol=1e-1, atol=1e-3, equal_nan=True)
        wrong = int((~near).sum())
        return f"{wrong} of {near.numel()} elements of {where} differ, by up to {float((a - b).abs().max()):.4g}" if wrong else ""
    if type(expected) is not type(found):
        return f"{where} is a {type(found).__name__}, not a {type(expected).__name__}"
    if isinstance(expected, dict):
        if expected.keys() != found.keys():
            return f"{where} has the keys {sorted(map(str, found))}, not {sorted(map(str, expected))}"
        pairs = [(expected[key], found[key], f"{where}[{key!r}]") for key in expected]
    elif isinstance(expected, (list, tuple)):
        if len(expected) != len(found):
            return f"{where} has {len(found)} items, not {len(expected)}"
        pairs = [(a, b, f"{where}[{i}]") for i, (a, b) in enumerate(zip(expected, found))]
    elif isinstance(expected, float):
        return "" if abs(expected - found) <= 1e-3 + 1e-1 * abs(expected) else f"{where} is {found}, not {expected}"
    else:
        return "" if expected == found else f"{where} is {found!r}, not {expected!r}"[:300]
    return next(filter(None, (difference_of(*pair) for pair in pairs)), "")


class TestEntry(ExtensionEntry):
    """A test that imports the extension, or calls its functions by their bare names. It runs as part of loading."""

    def load(self):
        self.extension = load_extension(self.candidate)
        names = [name for name in dir(self.extension) if not name.startswith("_")]
        sys.modules[self.candidate["module"]] = self.extension
        self.run({name: getattr(self.extension, name) for name in names})

    def run(self, namespace):
        names = list(namespace)
        expected = self.result_of_label()
        try:
            self.execute(self.candidate["path"], namespace)
            self.hold_against(expected, namespace.get("result_gold"))
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
            code = compile(file.read(), path, "exec")
        self.side.torch.manual_seed(42)
        if self.candidate["device"] == "cpu":
            with emulated_device():
                exec(code, namespace)
        else:
            exec(code, namespace)
        self.side.synchronize()

    def result_of_label(self):
        """What the test computes with the original source; None when there is none or it does not run here."""
        if not self.candidate.get("label"):
            return None
        path = os.path.join(os.path.dirname(self.candidate["path"]), "label.py")
        with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(self.candidate["label"])
        namespace = {}
        try:
            self.execute(path, namespace)
        except BaseException:  # noqa: BLE001: then there is nothing to compare with
            return None
        return namespace.get("result_gold")

    def hold_against(self, expected, found):
        if expected is None:
            return
        if found is None:
            raise Marked("value", "Generated output is None: the test leaves no result_gold")
        difference = difference_of(expected, found, "result_gold")
        if difference:
            raise Marked("value", f"Generated output does not match reference output: {difference}")

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

    def explained(self, error, names):
        where = [one for one in traceback.extract_tb(error.__traceback__) if one.filename == self.candidate["path"]]
        line = f" (line {where[-1].lineno} of the test)" if where else ""
        text = str(error).split("\n\nInvoked with")[0].replace("\n", " ")
        bound = f"; bound: {', '.join(names)}" if names and self.reason(error) == "symbol_mismatch" else ""
        return f"{type(error).__name__}: {text}{line}{bound}"


class ScriptEntry(TestEntry):
    """Python code with its test behind it in one file, as GEAK runs them. It runs as part of loading."""

    def load(self):
        self.run({})


def entry_for(candidate, side):
    if candidate["impl"] == "script":
        return ScriptEntry(candidate, side)
    if candidate["impl"] == "swft":
        return SwftEntry(candidate, side)
    if candidate["impl"] != "torch_ext":
        return Entry(candidate, side)
    if candidate.get("inline"):
        return InlineEntry(candidate, side)
    return TestEntry(candidate, side) if candidate.get("test") else ExtensionEntry(candidate, side)
