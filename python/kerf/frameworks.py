"""The three frameworks behind one interface.

    framework = frameworks.get("torch")
    framework.seed(0); framework.is_tensor(x); framework.dtype(x); framework.buffer(x) …

Dtypes are words: "float32", "bfloat16", "float8_e4m3fn" (src/artifact/tensor.h). A cast table maps such words; what
it does not name stays as it is.
"""

import importlib
import random

ORACLE = {name: "float64" for name in ("float8_e4m3fn", "float8_e5m2", "float16", "bfloat16", "float32")}
ORACLE["complex64"] = "complex128"
LOWER = {"float64": "float32", "float32": "float16", "float16": "bfloat16", "complex128": "complex64"}
FLOATS = set(ORACLE) | {"float64", "complex128"}

NAMES = ("torch", "numpy", "mindspore")


def oracle_dtype(dtype):
    return ORACLE.get(dtype, dtype)


def get(name):
    """The framework of that name; ImportError when the interpreter does not have it."""
    if name not in NAMES:
        raise ImportError(f"unknown framework '{name}'; known are {', '.join(NAMES)}")
    return importlib.import_module(f"kerf.framework_{name}").Framework()


def seed_everything(seed):
    """Python's own generator and numpy's, where it is there: tasks of every framework use them."""
    random.seed(seed)
    try:
        import numpy
    except ImportError:
        return
    numpy.random.seed(seed % 2**32)


def attributes(framework, holder, holds_tensor):
    """[(name, value)] of the plain attributes of a model that hold a tensor."""
    return [(name, value) for name, value in vars(holder).items()
            if not name.startswith("__") and holds_tensor(framework, value)]
