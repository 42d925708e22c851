"""Runs a scene test and prints what scene_reader.py prints: python3 scene_import.py MODULE.py [--case [CLASS::]CASE]

For modules that cannot be evaluated without running them. The module's code really runs, so kerf starts this in the sandbox. torch and the
packages of the runtime are stand-ins that record names, shapes and dtypes; other modules are imported where they are found and are stand-ins
where they are not.
"""

import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import sys
import traceback
import types

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from kerf import scene_calls, scene_reader  # noqa: E402
from kerf.scene_values import ClassValue, CTypeValue, Record, Symbol, TensorValue, Unknown  # noqa: E402

STANDS_IN = ("torch", "simpler", "simpler_setup", "ml_dtypes")
SCENES = []


class Name(Symbol):
    """A name of a stand-in: whatever is asked of it is another name."""

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return Name(f"{self.text}.{name}")

    def __call__(self, *args, **keywords):
        last = self.last
        if last == "scene_test":
            return lambda cls: decorate(cls, args, keywords)
        if last in scene_calls.RECORDS:
            return Record(last, list(args), keywords)
        try:
            return tensor(scene_calls.call_symbol(self.text, args, keywords))
        except (ValueError, TypeError, KeyError, IndexError):
            return Name(self.text + "()")

    def __mro_entries__(self, bases):
        return (Base,)


class Base:
    """What SceneTestCase is here."""


class RunTensor(TensorValue):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **keywords: tensor(scene_calls.call_method(self, name, args, keywords))

    def _same(self, *_):
        return RunTensor(self.shape, self.dtype)

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __pow__ = __neg__ = _same


def tensor(value):
    return RunTensor(value.shape, value.dtype, value.fill) if type(value) is TensorValue else value


def decorate(cls, args, keywords):
    SCENES.append((cls, dict(zip(("level", "runtime"), args), **keywords)))
    return cls


class StandIn(types.ModuleType):
    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if self.__name__.endswith("task_interface") and name == "ArgDirection":
            return Name("ArgDirection")
        return Base if name == "SceneTestCase" else Name(f"{self.__name__}.{name}")


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """First for the packages that stand in always, last for those that are not there."""

    def __init__(self, always):
        self.always = always

    def find_spec(self, name, path=None, target=None):
        if self.always and name.split(".")[0] not in STANDS_IN:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return StandIn(spec.name)

    def exec_module(self, module):
        pass


class RunClass(ClassValue):
    """A class that Python made, as the reader's functions want it."""

    def __init__(self, cls, given, module):
        super().__init__(cls.__name__, [], {}, 1, module)
        self.cls = cls
        self.scene = {"level": given.get("level"), "runtime": given.get("runtime")}

    def lookup(self, name, seen=()):
        return getattr(self.cls, name, None)


class ReadModule:
    def __init__(self, path):
        self.path = path


def run_args(out, cls, case_name):
    for case in getattr(cls, "CASES", None) or ():
        if not isinstance(case, dict) or case.get("name") != case_name:
            continue
        try:
            made = cls().generate_args(case.get("params", {}))
            records = made.args if isinstance(made, Record) and made.kind == "TaskArgsBuilder" else None
            if records is None:
                raise ValueError("generate_args returns nothing kerf can follow")
            out["args"] = [argument(record) for record in records]
        except Exception as error:  # the module's own code
            out["args_problem"] = problem(error)


def argument(record):
    if not isinstance(record, Record) or len(record.args) < 2:
        raise ValueError("generate_args holds an argument kerf cannot follow")
    name, value = record.args[0], record.args[1]
    if isinstance(value, TensorValue):
        return {"kind": "tensor", "name": name, "dtype": value.dtype, "shape": list(value.shape),
                "fill": value.fill if isinstance(value.fill, (int, float)) else None}
    ctype = type(value).__name__ if hasattr(value, "value") else None
    if isinstance(value, CTypeValue):
        ctype = value.ctype
    return {"kind": "scalar", "name": name, "ctype": ctype, "value": getattr(value, "value", value)}


def problem(error):
    frames = traceback.extract_tb(error.__traceback__)
    last = frames[-1] if frames else None
    return {"file": last.filename if last else "", "line": last.lineno if last else 1,
            "what": f"{type(error).__name__}: {error}"}


class Modules:
    """Stands in for scene_eval.Reader."""

    modules = {}


def read(path, case):
    document = {"module": path, "classes": [], "problems": []}
    sys.meta_path.insert(0, Finder(True))
    sys.meta_path.append(Finder(False))
    sys.path.insert(0, os.path.dirname(path))
    try:
        spec = importlib.util.spec_from_file_location("scene_under_test", path)
        module = importlib.util.module_from_spec(spec)
        sys.modules["scene_under_test"] = module
        spec.loader.exec_module(module)
    except BaseException as error:  # the module's own code, SystemExit included
        document["problems"].append(problem(error))
        return document
    wanted_class, _, wanted_case = (case or "").rpartition("::")
    for cls, given in SCENES:
        home = sys.modules.get(cls.__module__)
        if home is not module:
            continue
        out = scene_reader.read_class(Modules, RunClass(cls, given, ReadModule(path)))
        if wanted_case and wanted_class in ("", cls.__name__):
            run_args(out, cls, wanted_case)
        document["classes"].append(out)
    return document


def main(argv):
    case = argv[3] if len(argv) == 4 and argv[2] == "--case" else None
    if len(argv) not in (2, 4):
        print(__doc__, file=sys.stderr)
        return 2
    # What the module prints must not get into the document.
    out, sys.stdout = sys.stdout, sys.stderr
    document = read(os.path.abspath(argv[1]), case)
    out.write(json.dumps(document, default=str))
    out.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
