"""Evaluates a Python module without importing it or anything else.

Literals, names, containers, arithmetic, f-strings, comprehensions, calls of the module's own small functions, classes and their
bases, and imports of files that lie beside the module (or below a folder above it) are followed. Nothing of the module is executed by
Python: every node of its syntax tree is looked at here, with a bound on the steps. What cannot be followed becomes an Unknown
that says where and why.
"""

import ast
import operator
import os

from kerf import scene_calls
from kerf.scene_values import (BoundMethod, ClassValue, FunctionValue, Instance, PathValue, Record, Symbol, TensorValue,
                               Unknown, first_unknown)

STEPS = 400_000
DEPTH = 120
BINARY = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.LShift: operator.lshift, ast.RShift: operator.rshift,
    ast.BitOr: operator.or_, ast.BitAnd: operator.and_, ast.BitXor: operator.xor, ast.Pow: operator.pow,
}
COMPARE = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
    ast.Is: lambda a, b: a is b, ast.IsNot: lambda a, b: a is not b,
}


class TooLong(Exception):
    """The bound on steps or on depth was reached."""


class Returned(Exception):
    def __init__(self, value):
        super().__init__()
        self.value = value


class Reader:
    """Reads modules; each file once."""

    def __init__(self):
        self.modules = {}
        self.steps = 0
        self.depth = 0

    def module(self, path):
        path = os.path.normpath(path)
        if path not in self.modules:
            module = Module(self, path)
            self.modules[path] = module
            module.run()
        return self.modules[path]

    def step(self):
        self.steps += 1
        if self.steps > STEPS:
            raise TooLong("does more work than a scene test should; kerf stopped following it")


def find_module(name, level, start):
    """The file of an imported module: beside the module or below one of the folders above it; None when there is none."""
    folder = os.path.dirname(start)
    parts = name.split(".") if name else []
    if level:
        for _ in range(level - 1):
            folder = os.path.dirname(folder)
        folders = [folder]
    else:
        folders = []
        while True:
            folders += [folder, os.path.join(folder, "python")]
            parent = os.path.dirname(folder)
            if parent == folder or len(folders) > 24:
                break
            folder = parent
    for base in folders:
        stem = os.path.join(base, *parts)
        for path in (stem + ".py", os.path.join(stem, "__init__.py")):
            if parts and os.path.isfile(path):
                return path
    return None


class Module:
    def __init__(self, reader, path):
        self.reader, self.path = reader, path
        self.names = {"__file__": path, "__name__": "scene"}
        self.error = None

    def run(self):
        try:
            with open(self.path, encoding="utf-8") as file:
                tree = ast.parse(file.read(), self.path)
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError) as error:
            line = getattr(error, "lineno", None) or 1
            self.error = Unknown(self.path, line, f"cannot be read as Python: {error}")
            return
        Evaluator(self, self.names).block(tree.body)

    def lookup(self, name):
        return self.names.get(name)


class Evaluator:
    """Runs statements of one scope; `outer` is the module's."""

    def __init__(self, module, scope):
        self.module, self.scope = module, scope

    # Statements

    def block(self, statements):
        for node in statements:
            self.module.reader.step()
            getattr(self, "do_" + type(node).__name__, self.do_unread)(node)

    def do_unread(self, node):
        """A statement kerf does not follow: what it may change is not known after it."""
        for name in self.changed_names(node):
            self.scope[name] = self.unknown(node, f"'{name}' is changed by {type(node).__name__}, which kerf does not follow")

    def do_nothing(self, node):
        """Changes no value."""

    do_Pass = do_Global = do_Nonlocal = do_Assert = do_Raise = do_AsyncFunctionDef = do_nothing

    def do_Assign(self, node):
        value = self.eval(node.value)
        for target in node.targets:
            self.assign(target, value)

    def do_AnnAssign(self, node):
        if node.value is not None:
            self.assign(node.target, self.eval(node.value))

    def do_AugAssign(self, node):
        current = self.eval(node.target)
        self.assign(node.target, self.binary(node, node.op, current, self.eval(node.value)))

    def assign(self, target, value):
        if isinstance(target, ast.Name):
            self.scope[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            values = value if isinstance(value, (list, tuple)) and len(value) == len(target.elts) else None
            for i, part in enumerate(target.elts):
                self.assign(part, values[i] if values is not None else self.unknown(target, "cannot be unpacked"))
        elif isinstance(target, ast.Subscript):
            owner, key = self.eval(target.value), self.eval(target.slice)
            try:
                owner[key] = value
            except (TypeError, KeyError, IndexError):
                pass
        elif isinstance(target, ast.Attribute):
            owner = self.eval(target.value)
            if isinstance(owner, (Instance, ClassValue)):
                owner.attributes[target.attr] = value

    def do_Expr(self, node):
        self.eval(node.value)

    def do_If(self, node):
        test = self.eval(node.test)
        if isinstance(test, (Unknown, Symbol)):
            # Either branch may be the one: what both leave untouched stays known.
            for name in self.changed_names(node):
                self.scope[name] = self.unknown(node, f"'{name}' depends on a condition kerf cannot evaluate")
            return
        self.block(node.body if truth(test) else node.orelse)

    def changed_names(self, node):
        return [name for name in assigned_names(node) if not isinstance(self.scope.get(name), (Symbol, Instance, ClassValue))]

    def do_For(self, node):
        values = self.eval(node.iter)
        if not isinstance(values, (list, tuple, dict, set, str)):
            why = first_unknown(values)
            for name in self.changed_names(node):
                self.scope[name] = why or self.unknown(node, f"'{name}' comes from a loop kerf cannot follow")
            return
        for value in list(values):
            self.assign(node.target, value)
            try:
                self.block(node.body)
            except Break:
                return
            except Continue:
                continue
        self.block(node.orelse)

    def do_Break(self, node):
        raise Break

    def do_Continue(self, node):
        raise Continue

    def do_Try(self, node):
        self.block(node.body)
        self.block(node.orelse)
        self.block(node.finalbody)

    def do_With(self, node):
        self.block(node.body)

    def do_Return(self, node):
        raise Returned(self.eval(node.value) if node.value is not None else None)

    def do_FunctionDef(self, node):
        self.scope[node.name] = FunctionValue(node, self.module, self.scope)

    def do_Import(self, node):
        for alias in node.names:
            self.scope[alias.asname or alias.name.split(".")[0]] = Symbol(alias.name if alias.asname else alias.name.split(".")[0])

    def do_ImportFrom(self, node):
        name = node.module or ""
        # The package that runs scene tests is known by its names and never read.
        path = None if name.split(".")[0] in ("simpler", "simpler_setup", "torch") and not node.level else find_module(
            name, node.level, self.module.path)
        for alias in node.names:
            bound = alias.asname or alias.name
            if path is None:
                self.scope[bound] = Symbol(f"{name}.{alias.name}" if name else alias.name)
                continue
            other = self.module.reader.module(path)
            value = other.lookup(alias.name)
            if value is None:
                value = other.error or self.unknown(node, f"{alias.name} is not in {os.path.basename(path)}")
            self.scope[bound] = value

    def do_ClassDef(self, node):
        bases = [self.eval(base) for base in node.bases]
        attributes = {}
        inner = Evaluator(self.module, ChainScope(attributes, self.scope))
        inner.block(node.body)
        cls = ClassValue(node.name, bases, attributes, node.lineno, self.module)
        for decorator in node.decorator_list:
            self.decorate(cls, decorator)
        self.scope[node.name] = cls

    def decorate(self, cls, node):
        if not isinstance(node, ast.Call):
            return
        name = self.eval(node.func)
        if not (isinstance(name, Symbol) and name.last == "scene_test"):
            return
        given = dict(zip(("level", "runtime"), [self.eval(arg) for arg in node.args]))
        given.update({keyword.arg: self.eval(keyword.value) for keyword in node.keywords if keyword.arg})
        cls.scene = {"level": given.get("level"), "runtime": given.get("runtime")}

    # Expressions

    def unknown(self, node, why):
        return Unknown(self.module.path, getattr(node, "lineno", 1), why)

    def eval(self, node):
        reader = self.module.reader
        reader.step()
        reader.depth += 1
        try:
            if reader.depth > DEPTH:
                return self.unknown(node, "is nested too deeply")
            method = getattr(self, "of_" + type(node).__name__, None)
            if method is None:
                return self.unknown(node, f"uses {type(node).__name__}, which kerf does not follow")
            return method(node)
        except (TypeError, ValueError, KeyError, IndexError, AttributeError, ZeroDivisionError, OverflowError,
                MemoryError) as error:
            return self.unknown(node, reason(error))
        finally:
            reader.depth -= 1

    def of_Constant(self, node):
        return node.value

    def of_Name(self, node):
        if node.id in self.scope:
            return self.scope[node.id]
        if node.id in self.module.names:
            return self.module.names[node.id]
        if node.id in scene_calls.BUILTINS or node.id in ("range", "isinstance", "type", "getattr"):
            return Symbol("builtins." + node.id)
        return self.unknown(node, f"the name '{node.id}' is not known")

    def of_List(self, node):
        return list(self.elements(node.elts))

    def of_Tuple(self, node):
        return tuple(self.elements(node.elts))

    def of_Set(self, node):
        return set(self.elements(node.elts))

    def elements(self, nodes):
        values = []
        for node in nodes:
            if not isinstance(node, ast.Starred):
                values.append(self.eval(node))
                continue
            more = self.eval(node.value)
            if isinstance(more, (list, tuple, set)):
                values.extend(more)
            else:
                values.append(first_unknown(more) or self.unknown(node, "is spread and no list"))
        return scene_calls.sized(values)

    def of_Dict(self, node):
        made = {}
        for key, value in zip(node.keys, node.values):
            if key is not None:
                made[self.eval(key)] = self.eval(value)
                continue
            more = self.eval(value)
            if not isinstance(more, dict):
                return first_unknown(more) or self.unknown(value, "is merged and no dictionary")
            made.update(more)
        return scene_calls.sized(made)

    def of_JoinedStr(self, node):
        text = ""
        for part in node.values:
            value = self.eval(part)
            if isinstance(value, Unknown):
                return value
            text += value if isinstance(value, str) else shown(value)
        return scene_calls.sized(text)

    def of_FormattedValue(self, node):
        value = self.eval(node.value)
        if isinstance(value, Unknown):
            return value
        if isinstance(value, Symbol):
            return self.unknown(node, f"formats {value.text}, which kerf does not know")
        spec = self.eval(node.format_spec) if node.format_spec is not None else ""
        return format(value, spec) if spec else shown(value)

    def of_UnaryOp(self, node):
        value = self.eval(node.operand)
        if isinstance(value, Unknown):
            return value
        if isinstance(node.op, ast.Not):
            return not truth(value)
        if isinstance(value, TensorValue):
            return TensorValue(value.shape, value.dtype)
        return -value if isinstance(node.op, ast.USub) else +value if isinstance(node.op, ast.UAdd) else ~value

    def of_BinOp(self, node):
        return self.binary(node, node.op, self.eval(node.left), self.eval(node.right))

    def binary(self, node, op, left, right):
        for side in (left, right):
            if isinstance(side, Unknown):
                return side
        if isinstance(op, ast.Div) and isinstance(left, PathValue):
            return PathValue(os.path.join(left.text, getattr(right, "text", right)))
        for tensor, other in ((left, right), (right, left)):
            if isinstance(tensor, TensorValue):
                if isinstance(other, (int, float)):
                    return TensorValue(tensor.shape, tensor.dtype)
                if isinstance(other, TensorValue) and other.shape == tensor.shape:
                    return TensorValue(tensor.shape, tensor.dtype)
        if isinstance(left, Symbol) or isinstance(right, Symbol):
            return self.unknown(node, f"computes with {(left if isinstance(left, Symbol) else right).text}")
        check_cost(op, left, right)
        return scene_calls.sized(BINARY[type(op)](left, right))

    def of_BoolOp(self, node):
        value = None
        for part in node.values:
            value = self.eval(part)
            if isinstance(value, Unknown):
                return value
            if truth(value) == isinstance(node.op, ast.Or):
                return value
        return value

    def of_Compare(self, node):
        left = self.eval(node.left)
        for op, part in zip(node.ops, node.comparators):
            right = self.eval(part)
            for side in (left, right):
                if isinstance(side, Unknown):
                    return side
            if not COMPARE[type(op)](left, right):
                return False
            left = right
        return True

    def of_IfExp(self, node):
        test = self.eval(node.test)
        if isinstance(test, (Unknown, Symbol)):
            return first_unknown(test) or self.unknown(node, "depends on a condition kerf cannot evaluate")
        return self.eval(node.body if truth(test) else node.orelse)

    def of_Subscript(self, node):
        owner, key = self.eval(node.value), self.eval(node.slice)
        for side in (owner, key):
            if isinstance(side, Unknown):
                return side
        if isinstance(owner, Symbol):
            return self.unknown(node, f"looks into {owner.text}, which kerf does not know")
        if isinstance(owner, TensorValue):
            return self.unknown(node, "takes a part of a tensor, which kerf does not follow")
        return owner[key]

    def of_Slice(self, node):
        parts = [self.eval(part) if part is not None else None for part in (node.lower, node.upper, node.step)]
        return slice(*parts)

    def of_Attribute(self, node):
        owner, name = self.eval(node.value), node.attr
        if isinstance(owner, Unknown):
            return owner
        if isinstance(owner, Symbol):
            return Symbol(f"{owner.text}.{name}")
        if isinstance(owner, (ClassValue, Instance)):
            if isinstance(owner, Instance) and name in owner.attributes:
                return owner.attributes[name]
            if isinstance(owner, Instance) and name == "__class__":
                return owner.cls
            found = (owner.cls if isinstance(owner, Instance) else owner).lookup(name)
            if isinstance(found, FunctionValue) and isinstance(owner, Instance):
                return BoundMethod(owner, found)
            return found if found is not None else self.unknown(node, f"'{name}' is no attribute kerf can see")
        if isinstance(owner, PathValue) and name in ("parent", "name", "stem", "parents"):
            return scene_calls.path_attribute(owner, name)
        if isinstance(owner, TensorValue) and name in ("shape", "dtype"):
            return owner.shape if name == "shape" else Symbol("torch." + owner.dtype.lower())
        return BoundMethod(owner, name)

    def of_Call(self, node):
        function = self.eval(node.func)
        args = self.elements(node.args)
        keywords = {}
        for keyword in node.keywords:
            value = self.eval(keyword.value)
            if keyword.arg is not None:
                keywords[keyword.arg] = value
            elif isinstance(value, dict):
                keywords.update(value)
        if isinstance(function, Unknown):
            return function
        if isinstance(function, FunctionValue):
            return call_function(self, node, function, args, keywords)
        if isinstance(function, BoundMethod):
            if isinstance(function.name, FunctionValue):
                return call_function(self, node, function.name, [function.owner, *args], keywords)
            return scene_calls.call_method(function.owner, function.name, args, keywords)
        if isinstance(function, Symbol):
            return self.call_symbol(node, function, args, keywords)
        return self.unknown(node, "calls something kerf does not follow")

    def call_symbol(self, node, function, args, keywords):
        head, _, last = function.text.rpartition(".")
        if head == "builtins" and last == "type" and args and isinstance(args[0], Instance):
            return args[0].cls
        if head == "builtins" and last == "getattr" and len(args) > 1 and isinstance(args[0], Symbol):
            return Symbol(f"{args[0].text}.{args[1]}")
        if last not in scene_calls.RECORDS:
            for value in [*args, *keywords.values()]:
                if isinstance(value, Unknown):
                    return value
        if head == "builtins":
            return scene_calls.call_builtin(last, args, keywords)
        if last in ("deepcopy", "Path") or head.endswith("ctypes"):
            return scene_calls.call_symbol(last if last in ("deepcopy", "Path") else "ctypes." + last, args, keywords)
        if last in scene_calls.RECORDS:
            return Record(last, args, keywords)
        return scene_calls.call_symbol(function.text, args, keywords)

    # Comprehensions

    def of_ListComp(self, node):
        made = []
        self.comprehend(node.generators, lambda inner: made.append(inner.eval(node.elt)))
        return scene_calls.sized(made)

    of_GeneratorExp = of_ListComp

    def of_SetComp(self, node):
        return set(self.of_ListComp(node))

    def of_DictComp(self, node):
        made = {}
        self.comprehend(node.generators, lambda inner: made.__setitem__(inner.eval(node.key), inner.eval(node.value)))
        return scene_calls.sized(made)

    def comprehend(self, generators, take):
        if not generators:
            take(self)
            return
        values = self.eval(generators[0].iter)
        if not isinstance(values, (list, tuple, dict, set, str)):
            raise ValueError(first_unknown(values).why if first_unknown(values) else "runs over what is no list")
        for value in list(values):
            inner = Evaluator(self.module, ChainScope({}, self.scope))
            inner.assign(generators[0].target, value)
            if all(truth(inner.eval(test)) for test in generators[0].ifs):
                inner.comprehend(generators[1:], take)


class Break(Exception):
    pass


class Continue(Exception):
    pass


class ChainScope(dict):
    """Writes here, reads here and then outside."""

    def __init__(self, own, outer):
        super().__init__()
        self.own, self.outer = own, outer

    def __contains__(self, name):
        return name in self.own or name in self.outer

    def __getitem__(self, name):
        return self.own[name] if name in self.own else self.outer[name]

    def __setitem__(self, name, value):
        self.own[name] = value

    def get(self, name, default=None):
        return self[name] if name in self else default


def call_function(caller, node, function, args, keywords):
    """A function of a module that was read, called with these values."""
    spec = function.node.args
    names = [arg.arg for arg in [*spec.posonlyargs, *spec.args]]
    evaluator = Evaluator(function.module, {})
    scope = {}
    for name, default in zip(reversed(names), reversed(spec.defaults)):
        scope[name] = evaluator.eval(default)
    for arg, default in zip(spec.kwonlyargs, spec.kw_defaults):
        if default is not None:
            scope[arg.arg] = evaluator.eval(default)
    scope.update(zip(names, args))
    if spec.vararg is not None:
        scope[spec.vararg.arg] = list(args[len(names):])
    known = {*names, *[arg.arg for arg in spec.kwonlyargs]}
    scope.update({name: value for name, value in keywords.items() if name in known})
    if spec.kwarg is not None:
        scope[spec.kwarg.arg] = {name: value for name, value in keywords.items() if name not in known}
    reader = function.module.reader
    reader.depth += 1
    try:
        if reader.depth > DEPTH:
            return caller.unknown(node, "calls functions too deeply")
        Evaluator(function.module, ChainScope(scope, function.scope)).block(function.node.body)
    except Returned as returned:
        return returned.value
    except (Break, Continue):
        pass
    finally:
        reader.depth -= 1
    return None


def assigned_names(node):
    """What a block may change: names it assigns, and names whose methods it calls or whose items it sets."""
    names = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, (ast.Store, ast.Del)):
            names.add(part.id)
        owner = part.func if isinstance(part, ast.Call) else part
        if isinstance(owner, (ast.Attribute, ast.Subscript)) and isinstance(owner.value, ast.Name):
            if isinstance(part, ast.Call) or isinstance(getattr(part, "ctx", None), (ast.Store, ast.Del)):
                names.add(owner.value.id)
    return sorted(names)


def truth(value):
    return bool(value) if isinstance(value, (bool, int, float, str, list, tuple, dict, set, type(None))) else True


def shown(value):
    return value.text if isinstance(value, PathValue) else str(value)


def check_cost(op, left, right):
    """Refuses numbers and texts that would fill the memory."""
    if isinstance(op, (ast.Pow, ast.LShift)) and isinstance(right, int) and (abs(right) > 512 or
                                                                             (isinstance(left, int) and abs(left) > 1 << 64)):
        raise ValueError("makes a number larger than any size")
    if isinstance(op, ast.Mult):
        for sequence, times in ((left, right), (right, left)):
            if isinstance(sequence, (str, list, tuple, bytes)) and isinstance(times, int) and len(sequence) * times > scene_calls.MOST:
                raise ValueError("makes a list larger than a scene test needs")
    if isinstance(left, int) and isinstance(right, int) and max(left.bit_length(), right.bit_length()) > 4096:
        raise ValueError("makes a number larger than any size")


def reason(error):
    if isinstance(error, KeyError):
        return f"the key {error} is not there"
    return str(error) or type(error).__name__
