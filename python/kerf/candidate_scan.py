"""Reads a Python candidate before it runs, and names what no kernel needs.

A candidate shares an interpreter with the code that counts its launches and logs its operations. It cannot change the
verdict on its results, which the judge reaches elsewhere, but it could hide how they came about: with the caller's
frames, the table of modules, the garbage collector, other processes, or by replacing functions. All of these have names.
A candidate that hides the names as well gets past this; its results are compared all the same.
"""

import ast

REASONS = {
    "gc": "a kernel looks for nobody else's objects",
    "ctypes": "a kernel does not go around the interpreter",
    "_ctypes": "a kernel does not go around the interpreter",
    "cffi": "a kernel does not go around the interpreter",
    "mmap": "a kernel does not go around the interpreter",
    "subprocess": "a kernel starts no processes",
    "multiprocessing": "a kernel starts no processes",
    "pty": "a kernel starts no processes",
    "socket": "a kernel talks to nobody",
    "asyncio": "a kernel is done when it returns",
    "concurrent": "a kernel is done when it returns",
    "threading": "a kernel is done when it returns",
    "_thread": "a kernel is done when it returns",
    "importlib": "a kernel says by name what it imports",
    "builtins": "a kernel does not change the language",
    "__main__": "a kernel leaves its caller alone",
}
# Names of functions and attributes, from their modules.
CALLS = {
    "sys.modules": "a kernel leaves other modules alone",
    "sys.meta_path": "a kernel leaves other modules alone",
    "sys.path_hooks": "a kernel leaves other modules alone",
    "sys.addaudithook": "a kernel watches nobody",
    "sys.settrace": "a kernel watches nobody",
    "sys.setprofile": "a kernel watches nobody",
    "os.system": "a kernel starts no processes",
    "os.popen": "a kernel starts no processes",
    "os.fork": "a kernel starts no processes",
    "os.forkpty": "a kernel starts no processes",
    "os.posix_spawn": "a kernel starts no processes",
    "os.kill": "a kernel ends no processes",
    "os.killpg": "a kernel ends no processes",
    "torch._C": "a kernel does not ask who is watching",
    "torch.utils._python_dispatch": "a kernel does not ask who is watching",
    "torch.overrides": "a kernel does not ask who is watching",
}
PREFIXES = {"os.exec": "a kernel starts no processes", "os.spawn": "a kernel starts no processes"}
# Attributes of any object: the ways from a value to its makers and callers.
ATTRIBUTES = set(
    """__traceback__ tb_frame tb_next f_back f_locals f_globals f_builtins gi_frame cr_frame ag_frame __globals__
    __closure__ __code__ __builtins__ __subclasses__ __import__ __loader__ _getframe _current_frames currentframe
    getouterframes getinnerframes""".split()
)
BUILTINS = {"exec", "eval", "compile", "__import__", "globals", "__builtins__", "breakpoint"}
# Modules have settings, too.
SETTINGS = ("torch.backends.", "torch._dynamo.config.", "torch._inductor.config.", "triton.knobs.")
CLOCKS = ("time.", "torch.cuda.Event", "torch.cuda.synchronize", "torch.Event", "triton.testing.")


class Scan(ast.NodeVisitor):
    def __init__(self):
        self.names = {}  # local name -> dotted name of what was imported
        self.found = None  # (line, reason, text)

    def blame(self, node, text, reason="forbidden_call"):
        if self.found is None:
            self.found = (node.lineno, reason, text)

    def dotted(self, node):
        """The full name of an imported thing, None for anything else."""
        if isinstance(node, ast.Name):
            return self.names.get(node.id)
        if isinstance(node, ast.Attribute):
            base = self.dotted(node.value)
            return f"{base}.{node.attr}" if base else None
        return None

    def check(self, node, name):
        why = CALLS.get(name) or next((why for start, why in PREFIXES.items() if name.startswith(start)), None)
        if why is not None:
            self.blame(node, f"it uses {name}: {why}")

    def imported(self, node, name):
        why = REASONS.get(name.split(".")[0])
        if why is not None:
            self.blame(node, f"it imports {name}: {why}")
        self.check(node, name)

    def visit_Import(self, node):
        for alias in node.names:
            self.imported(node, alias.name)
            if alias.asname:
                self.names[alias.asname] = alias.name
            else:
                self.names[alias.name.split(".")[0]] = alias.name.split(".")[0]

    def visit_ImportFrom(self, node):
        for alias in node.names:
            self.imported(node, f"{node.module}.{alias.name}")
            self.names[alias.asname or alias.name] = f"{node.module}.{alias.name}"

    def visit_Name(self, node):
        if node.id in BUILTINS and isinstance(node.ctx, ast.Load):
            self.blame(node, f"it uses {node.id}: a kernel is written out, not made from texts")

    def visit_Attribute(self, node):
        name = self.dotted(node)
        if node.attr in ATTRIBUTES:
            self.blame(node, f"it uses {name or node.attr}: a kernel leaves its caller alone")
        if name is not None:
            self.check(node, name)
            if node.attr == "__dict__":
                self.blame(node, f"it uses {name}: names of a module are written out")
            if not isinstance(node.ctx, ast.Load):
                self.replaced(node, name)
        self.generic_visit(node)

    def replaced(self, node, name):
        if name.startswith(SETTINGS):
            return
        reason = "timer_patch" if name.startswith(CLOCKS) else "forbidden_call"
        self.blame(node, f"it replaces {name}: a kernel does not change what others call", reason)

    def visit_Call(self, node):
        function = node.func.id if isinstance(node.func, ast.Name) else None
        if function in ("getattr", "setattr", "delattr", "hasattr") and len(node.args) >= 2:
            self.attribute_by_text(node, function)
        if function == "vars" and node.args and self.dotted(node.args[0]) is not None:
            self.blame(node, f"it uses vars({self.dotted(node.args[0])}): names of a module are written out")
        self.generic_visit(node)

    def attribute_by_text(self, node, function):
        base, text = self.dotted(node.args[0]), node.args[1]
        if isinstance(text, ast.Constant) and isinstance(text.value, str):
            named = ast.Attribute(node.args[0], text.value, ast.Load() if function in ("getattr", "hasattr") else ast.Store())
            self.visit_Attribute(ast.copy_location(named, node))
        elif base is not None and base.split(".")[0] in ("sys", "os", "types", "inspect", "time"):
            self.blame(node, f"it uses a name of {base} that it does not write out")


def find_forbidden(source, path="candidate.py"):
    """(line, reason, text) of the first thing no kernel needs, or None. A source that is no Python gives None too: that is
    for others to tell."""
    try:
        tree = ast.parse(source, path)
    except (SyntaxError, ValueError, RecursionError):
        return None
    scan = Scan()
    scan.visit(tree)
    return scan.found
