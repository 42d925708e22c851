"""What the scene reader computes with: ordinary values, and stand-ins for what only a running module would have."""

import copy


class Unknown:
    """A value that could not be evaluated; says where and why. Whatever is made of it is the same Unknown."""

    def __init__(self, file, line, why):
        self.file, self.line, self.why = file, line, why

    def problem(self):
        return {"file": self.file, "line": self.line, "what": self.why}


class Symbol:
    """A name of a module that is not read, such as torch.float32 or D.IN."""

    def __init__(self, text):
        self.text = text

    @property
    def last(self):
        return self.text.rsplit(".", 1)[-1]

    def __eq__(self, other):
        return isinstance(other, Symbol) and other.text == self.text

    def __hash__(self):
        return hash(self.text)


class TensorValue:
    """A tensor without its elements."""

    def __init__(self, shape, dtype, fill=None):
        self.shape, self.dtype, self.fill = tuple(shape), dtype, fill


class Record:
    """What TensorArg(…), Scalar(…) and TaskArgsBuilder(…) make."""

    def __init__(self, kind, args, keywords):
        self.kind, self.args, self.keywords = kind, args, keywords


class CTypeValue:
    """ctypes.c_float(x) and its kin."""

    def __init__(self, ctype, value):
        self.ctype, self.value = ctype, value


class FunctionValue:
    """`scope` is where it was defined: its free names are looked up there."""

    def __init__(self, node, module, scope):
        self.node, self.module, self.scope = node, module, scope


class BoundMethod:
    def __init__(self, owner, name):
        self.owner, self.name = owner, name


class ClassValue:
    def __init__(self, name, bases, attributes, line, module):
        self.name, self.bases, self.attributes, self.line, self.module = name, bases, attributes, line, module
        self.scene = None  # {"level", "runtime"} when decorated

    def lookup(self, name, seen=()):
        if name in self.attributes:
            return self.attributes[name]
        for base in self.bases:
            if isinstance(base, ClassValue) and base not in seen:
                found = base.lookup(name, (*seen, self))
                if found is not None:
                    return found
        return None

    def unread_bases(self):
        """Bases that could hold attributes kerf does not see."""
        names = []
        for base in self.bases:
            if isinstance(base, ClassValue):
                names += base.unread_bases()
            elif isinstance(base, Unknown):
                names.append(base.why)
            elif isinstance(base, Symbol) and base.last not in ("SceneTestCase", "object"):
                names.append(base.text)
        return names


class Instance:
    """`self` inside generate_args."""

    def __init__(self, cls):
        self.cls, self.attributes = cls, {}


class PathValue:
    """A pathlib.Path, as text."""

    def __init__(self, text):
        self.text = text


def first_unknown(value, depth=0):
    """The first Unknown inside a value, or None."""
    if isinstance(value, Unknown):
        return value
    if depth > 20:
        return None
    parts = ()
    if isinstance(value, dict):
        parts = list(value.values())
    elif isinstance(value, (list, tuple, set)):
        parts = value
    elif isinstance(value, Record):
        parts = list(value.args) + list(value.keywords.values())
    elif isinstance(value, CTypeValue):
        parts = (value.value,)
    elif isinstance(value, TensorValue):
        parts = (*value.shape, value.dtype)
    for part in parts:
        found = first_unknown(part, depth + 1)
        if found is not None:
            return found
    return None


def plain_copy(value):
    """deepcopy for the containers; everything else here never changes."""
    if isinstance(value, dict):
        return {key: plain_copy(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain_copy(item) for item in value]
    if isinstance(value, set):
        return copy.copy(value)
    return value
