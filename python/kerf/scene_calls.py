"""Calls the scene reader understands: built-ins, methods of plain values, paths, and tensor constructors."""

import math
import os

from kerf.scene_values import CTypeValue, PathValue, Record, Symbol, TensorValue, Unknown, plain_copy

MOST = 100_000  # elements of a list, characters of a text: more is no scene test

DTYPES = {
    "float32": "FLOAT32", "float": "FLOAT32", "float16": "FLOAT16", "half": "FLOAT16", "bfloat16": "BFLOAT16",
    "int8": "INT8", "int16": "INT16", "int32": "INT32", "int": "INT32", "int64": "INT64", "long": "INT64",
    "uint8": "UINT8", "uint16": "UINT16", "uint32": "UINT32", "uint64": "UINT64", "bool": "BOOL",
    "float8_e4m3fn": "FP8E4M3FN", "float8_e8m0fnu": "FP8E8M0", "float64": "FLOAT64", "double": "FLOAT64",
}
RECORDS = {"TensorArg", "Tensor", "Scalar", "TaskArgsBuilder"}
BUILTINS = {
    "len": len, "list": list, "tuple": tuple, "dict": dict, "set": set, "str": str, "int": int, "float": float,
    "bool": bool, "max": max, "min": min, "sum": sum, "abs": abs, "sorted": sorted, "round": round, "any": any,
    "all": all, "reversed": lambda x: list(reversed(x)), "zip": lambda *a: list(zip(*a)),
    "enumerate": lambda x, start=0: list(enumerate(x, start)), "divmod": divmod, "repr": repr,
}
MATH = {"ceil", "floor", "sqrt", "log2", "log", "exp", "prod", "gcd"}
METHODS = {
    str: {"format", "join", "upper", "lower", "replace", "split", "startswith", "endswith", "strip", "rstrip", "lstrip",
          "removeprefix", "removesuffix", "count", "find", "title"},
    list: {"append", "extend", "insert", "copy", "index", "count", "pop"},
    tuple: {"index", "count"},
    dict: {"get", "items", "keys", "values", "update", "copy", "pop", "setdefault"},
    set: {"add", "update", "union", "copy"},
}
SAME_SHAPE = {"contiguous", "clone", "cpu", "detach", "abs", "fill_", "zero_", "normal_", "uniform_", "clamp", "exp", "neg",
              "round", "sign", "requires_grad_", "mul_", "add_", "share_memory_"}


def sized(value):
    if isinstance(value, (list, tuple, str, dict, set)) and len(value) > MOST:
        raise ValueError("is too large")
    return value


def dtype_of(symbol):
    """A torch dtype's runtime name, or None."""
    return DTYPES.get(symbol.last) if isinstance(symbol, Symbol) else None


def shape_of(args):
    """(2, 3), [2, 3] or 2, 3."""
    if len(args) == 1 and isinstance(args[0], (list, tuple)):
        args = args[0]
    if not all(isinstance(n, int) and not isinstance(n, bool) for n in args):
        raise ValueError("has a shape that is not made of whole numbers")
    return tuple(args)


def make_tensor(name, args, keywords):
    """torch.zeros(…) and its kin; None when the name is none of them."""
    dtype = dtype_of(keywords["dtype"]) if "dtype" in keywords else None
    if "dtype" in keywords and dtype is None:
        raise ValueError("has a dtype kerf does not know")
    args = list(args)
    if name in ("zeros", "ones", "empty", "randn", "rand"):
        if "size" in keywords:
            args = [keywords["size"]]
        return TensorValue(shape_of(args), dtype or "FLOAT32", {"zeros": 0.0, "ones": 1.0}.get(name))
    if name == "full":
        value = keywords.get("fill_value", args[1] if len(args) > 1 else None)
        default = "INT64" if isinstance(value, int) and not isinstance(value, bool) else "FLOAT32"
        return TensorValue(shape_of([args[0] if args else keywords["size"]]), dtype or default, value)
    if name == "randint":
        size = keywords.get("size", next((a for a in args if isinstance(a, (list, tuple))), None))
        return TensorValue(shape_of([size]), dtype or "INT64")
    if name == "arange":
        whole = all(isinstance(a, int) for a in args)
        return TensorValue((len(range(*args)),), dtype or "INT64") if whole else None
    if name in ("zeros_like", "ones_like", "empty_like", "randn_like", "rand_like", "full_like") and args:
        return TensorValue(args[0].shape, dtype or args[0].dtype, {"zeros_like": 0.0, "ones_like": 1.0}.get(name))
    if name == "tensor" and args:
        return tensor_of_list(args[0], dtype)
    return None


def tensor_of_list(value, dtype):
    shape, part = [], value
    while isinstance(part, (list, tuple)):
        shape.append(len(part))
        part = part[0] if part else None
    default = "FLOAT32" if isinstance(part, float) else "BOOL" if isinstance(part, bool) else "INT64"
    return TensorValue(tuple(shape), dtype or default)


def tensor_method(tensor, name, args, keywords):
    if name in SAME_SHAPE:
        return TensorValue(tensor.shape, tensor.dtype, args[0] if name == "fill_" and args else None)
    if name in ("to", "type"):
        for value in [*args, *keywords.values()]:
            if dtype_of(value):
                return TensorValue(tensor.shape, dtype_of(value), tensor.fill)
        return tensor
    if name in DTYPES and not args:
        return TensorValue(tensor.shape, DTYPES[name], tensor.fill)
    if name in ("reshape", "view"):
        shape, count = list(shape_of(args)), math.prod(tensor.shape)
        if -1 in shape:
            rest = -math.prod(shape)
            shape[shape.index(-1)] = count // rest if rest else 0
        return TensorValue(shape, tensor.dtype, tensor.fill)
    if name == "flatten" and not args:
        return TensorValue((math.prod(tensor.shape),), tensor.dtype, tensor.fill)
    if name == "numel":
        return math.prod(tensor.shape)
    if name in ("size",) and len(args) == 1:
        return tensor.shape[args[0]]
    if name == "expand":
        return TensorValue(shape_of(args), tensor.dtype, tensor.fill)
    raise ValueError(f"calls .{name}(), which kerf does not follow")


def call_symbol(text, args, keywords):
    """A call of a name from a module that is not read. Raises ValueError when it is none kerf knows."""
    head, _, last = text.rpartition(".")
    if last in RECORDS:
        return Record(last, list(args), keywords)
    if head == "torch":
        made = make_tensor(last, args, keywords)
        if made is not None:
            return made
        if last == "manual_seed":
            return None
        if last in SAME_SHAPE and args and isinstance(args[0], TensorValue):
            return TensorValue(args[0].shape, args[0].dtype)
    if text in ("copy.deepcopy", "copy.copy", "deepcopy"):
        return plain_copy(args[0])
    if last.startswith("c_") and (head == "ctypes" or not head):
        return CTypeValue(last, args[0] if args else 0)
    if text in ("pathlib.Path", "Path", "pathlib.PurePath"):
        return PathValue(os.path.join(*[part.text if isinstance(part, PathValue) else part for part in args]))
    if head == "os.path" and last in ("join", "dirname", "abspath", "realpath", "normpath", "basename"):
        parts = [part.text if isinstance(part, PathValue) else part for part in args]
        return getattr(os.path, "normpath" if last in ("abspath", "realpath") else last)(*parts)
    if head == "math" and last in MATH:
        return getattr(math, last)(*args)
    raise ValueError(f"calls {text}(), which kerf does not follow")


def path_attribute(path, name):
    if name == "parent":
        return PathValue(os.path.dirname(path.text))
    if name == "name":
        return os.path.basename(path.text)
    if name == "stem":
        return os.path.splitext(os.path.basename(path.text))[0]
    if name == "parents":
        parents, text = [], path.text
        while os.path.dirname(text) != text:
            text = os.path.dirname(text)
            parents.append(PathValue(text))
        return parents
    raise ValueError(f"uses .{name} of a path, which kerf does not follow")


def call_method(owner, name, args, keywords):
    if isinstance(owner, TensorValue):
        return tensor_method(owner, name, args, keywords)
    if isinstance(owner, PathValue):
        if name in ("resolve", "absolute", "expanduser"):
            return PathValue(os.path.normpath(owner.text))
        if name == "joinpath":
            return PathValue(os.path.join(owner.text, *[getattr(a, "text", a) for a in args]))
        if name in ("as_posix", "__str__"):
            return owner.text
        raise ValueError(f"calls .{name}() of a path, which kerf does not follow")
    for kind, names in METHODS.items():
        if isinstance(owner, kind) and name in names:
            made = getattr(owner, name)(*args, **keywords)
            sized(owner)
            return list(made) if name in ("items", "keys", "values") else sized(made)
    raise ValueError(f"calls .{name}(), which kerf does not follow")


def call_builtin(name, args, keywords):
    if name == "range":
        span = range(*args)
        if len(span) > MOST:
            raise ValueError("runs over too large a range")
        return list(span)
    if name == "str" and len(args) == 1 and isinstance(args[0], PathValue):
        return args[0].text
    if name == "isinstance":
        return call_isinstance(*args)
    if name not in BUILTINS:
        raise ValueError(f"calls {name}(), which kerf does not follow")
    if any(isinstance(a, (Symbol, Unknown)) for a in args):
        raise ValueError(f"calls {name}() with something kerf does not know")
    return sized(BUILTINS[name](*args, **keywords))


def call_isinstance(value, kind):
    names = kind if isinstance(kind, tuple) else (kind,)
    for one in names:
        text = one.last if isinstance(one, Symbol) else ""
        if text == "Tensor" and isinstance(value, TensorValue):
            return True
        if text in ("int", "float", "str", "list", "tuple", "dict", "bool") and isinstance(value, BUILTINS[text]):
            return True
        if text in RECORDS and isinstance(value, Record) and value.kind == text:
            return True
    return False
