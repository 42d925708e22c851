"""Reads a scene test without importing it: python3 scene_reader.py MODULE.py [--case [CLASS::]CASE]

Writes one JSON document to stdout: the classes under @scene_test with their in-core kernels and cases, each with its line, and what could
not be evaluated, with file and line. With --case also the tensors and scalars that generate_args makes for that case. The standard
library only; nothing of the module runs (scene_eval.py).
"""

import json
import os
import sys

if __package__ in (None, ""):
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from kerf import scene_eval  # noqa: E402
from kerf.scene_values import (ClassValue, CTypeValue, FunctionValue, Instance, PathValue, Record, Symbol,  # noqa: E402
                               TensorValue, Unknown, first_unknown)

LEVELS = {"CHIP": 2, "NODE": 3, "NETWORK1": 4}


def plain(value, problems):
    """As JSON; what cannot be becomes null and a problem."""
    if isinstance(value, Unknown):
        problems.append(value.problem())
        return None
    if isinstance(value, dict):
        return {str(key.last if isinstance(key, Symbol) else key): plain(item, problems) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item, problems) for item in value]
    if isinstance(value, set):
        return sorted(str(item) for item in value)
    if isinstance(value, Symbol):
        return value.last
    if isinstance(value, PathValue):
        return value.text
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return str(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, FunctionValue):
        return value.node.name
    return str(type(value).__name__)


def level_of(value):
    if isinstance(value, Symbol):
        return LEVELS.get(value.last)
    return value if isinstance(value, int) else None


def absolute(source, folders):
    """Against the folder of the decorated class, else of where the text was written."""
    if not isinstance(source, str) or os.path.isabs(source):
        return source
    paths = [os.path.normpath(os.path.join(folder, source)) for folder in folders]
    return next((path for path in paths if os.path.exists(path)), paths[0])


def incore(entry, folders, problems):
    if not isinstance(entry, dict):
        unknown = first_unknown(entry)
        if unknown is not None:
            problems.append(unknown.problem())
        return None
    made = {key: plain(entry.get(key), problems) for key in ("func_id", "name", "source", "core_type", "signature",
                                                             "extra_include_dirs") if entry.get(key) is not None}
    made["source"] = absolute(made.get("source"), folders)
    if isinstance(made.get("source"), str) and not made.get("name"):
        made["name"] = os.path.splitext(os.path.basename(made["source"]))[0]
    return made


def read_callable(cls, folders, out):
    """Fills in orchestration and incores; those of all callables of a level-3 class."""
    problems = out["problems"]
    value = cls.lookup("CALLABLE")
    if value is None:
        bases = cls.unread_bases()
        problems.append({"file": cls.module.path, "line": cls.line,
                         "what": "has no CALLABLE" + (f" that kerf can see; it may come from {', '.join(bases)}" if bases else "")})
        return
    if not isinstance(value, dict):
        problems.append((first_unknown(value) or Unknown(cls.module.path, cls.line, "CALLABLE is no dictionary")).problem())
        return
    parts = [value]
    if isinstance(value.get("callables"), (list, tuple, dict)):
        many = value["callables"]
        parts = [part for part in (many.values() if isinstance(many, dict) else many) if isinstance(part, dict)]
    elif isinstance(value.get("callables"), Unknown):
        problems.append(value["callables"].problem())
    for part in parts:
        orchestration = part.get("orchestration")
        if isinstance(orchestration, dict) and "orchestration" not in out:
            out["orchestration"] = plain(orchestration, problems)
            out["orchestration"]["source"] = absolute(out["orchestration"].get("source"), folders)
        incores = part.get("incores", [])
        if not isinstance(incores, (list, tuple)):
            unknown = first_unknown(incores) or Unknown(cls.module.path, cls.line, "incores is no list")
            problems.append(unknown.problem())
            continue
        for entry in incores:
            made = incore(entry, folders, problems)
            if made is not None:
                out["incores"].append(made)


def read_cases(cls, out):
    value = cls.lookup("CASES")
    if not isinstance(value, (list, tuple)):
        what = first_unknown(value) or Unknown(cls.module.path, cls.line, "has no CASES that kerf can see")
        out["problems"].append(what.problem())
        return
    for entry in value:
        if isinstance(entry, dict):
            out["cases"].append({key: plain(entry.get(key), out["problems"]) for key in ("name", "platforms", "params", "manual")
                                 if entry.get(key) is not None})
        elif first_unknown(entry) is not None:
            out["problems"].append(first_unknown(entry).problem())


def folders_of(cls):
    folders = [os.path.dirname(cls.module.path)]
    for base in cls.bases:
        if isinstance(base, ClassValue):
            folders += folders_of(base)
    return folders


def source_folders(reader, cls):
    """Where relative sources may start: the class's own folder first, then those of every module that was read."""
    folders = folders_of(cls)
    folders += [os.path.dirname(path) for path in reader.modules if os.path.dirname(path) not in folders]
    return folders


def read_class(reader, cls):
    out = {"name": cls.name, "line": cls.line, "level": level_of(cls.scene["level"]), "incores": [], "cases": [], "problems": []}
    out["runtime"] = plain(cls.scene["runtime"], out["problems"])
    folders = source_folders(reader, cls)
    read_callable(cls, folders, out)
    read_cases(cls, out)
    return out


def scalar(record):
    values = list(record.args) + [record.keywords.get("value")]
    value = values[1] if len(record.args) > 1 else record.keywords.get("value")
    ctype = value.ctype if isinstance(value, CTypeValue) else None
    value = value.value if isinstance(value, CTypeValue) else value
    return {"kind": "scalar", "ctype": ctype, "value": value}


def read_args(cls, case):
    """The arguments generate_args makes, as a list, or the Unknown that stands in the way."""
    function = cls.lookup("generate_args")
    if not isinstance(function, FunctionValue):
        return Unknown(cls.module.path, cls.line, "has no generate_args that kerf can see")
    caller = scene_eval.Evaluator(cls.module, {})
    made = scene_eval.call_function(caller, function.node, function, [Instance(cls), case.get("params", {})], {})
    if not isinstance(made, Record) or made.kind != "TaskArgsBuilder":
        return first_unknown(made) or Unknown(function.module.path, function.node.lineno,
                                              "generate_args returns nothing kerf can follow")
    listed = []
    for record in made.args:
        unknown = first_unknown(record)
        if unknown is not None:
            return unknown
        if not isinstance(record, Record) or not record.args:
            return Unknown(function.module.path, function.node.lineno, "holds an argument kerf cannot follow")
        name = record.args[0] if isinstance(record.args[0], str) else ""
        value = record.args[1] if len(record.args) > 1 else record.keywords.get("value")
        if isinstance(value, TensorValue):
            listed.append({"kind": "tensor", "name": name, "dtype": value.dtype, "shape": list(value.shape),
                           "fill": value.fill if isinstance(value.fill, (int, float)) else None})
        elif record.kind == "Scalar":
            listed.append({"name": name, **scalar(record)})
        else:
            return Unknown(function.module.path, function.node.lineno, f"makes '{name}' in a way kerf cannot follow")
    return listed


def add_args(out, cls, case_name):
    cases = cls.lookup("CASES")
    for case in cases if isinstance(cases, (list, tuple)) else ():
        if isinstance(case, dict) and case.get("name") == case_name:
            made = read_args(cls, case)
            if isinstance(made, Unknown):
                out["args_problem"] = made.problem()
            else:
                out["args"] = [{key: plain(item, []) for key, item in one.items()} for one in made]


def read_scene(path, case=None):
    path = os.path.abspath(path)
    reader = scene_eval.Reader()
    document = {"module": path, "classes": [], "problems": []}
    try:
        module = reader.module(path)
        if module.error is not None:
            document["problems"].append(module.error.problem())
            return document
        wanted_class, _, wanted_case = (case or "").rpartition("::")
        for cls in module.names.values():
            if isinstance(cls, ClassValue) and cls.scene is not None and cls.module is module:
                out = read_class(reader, cls)
                if wanted_case and wanted_class in ("", cls.name):
                    add_args(out, cls, wanted_case)
                document["classes"].append(out)
    except (scene_eval.TooLong, RecursionError, scene_eval.Returned, scene_eval.Break, scene_eval.Continue) as error:
        document["problems"].append({"file": path, "line": 1, "what": str(error) or "is no module kerf can follow"})
    return document


def main(argv):
    case = None
    if len(argv) == 4 and argv[2] == "--case":
        case = argv[3]
    elif len(argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    json.dump(read_scene(argv[1], case), sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
