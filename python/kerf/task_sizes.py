"""Makes a task smaller through its own module-level sizes.

    python3 task_sizes.py REQUEST              REQUEST is JSON, or - to read it from standard input

    {"task": "19_ReLU.py", "framework": "torch", "out": "out",
     "max_bytes": 67108864,                    most for inputs, parameters and outputs together, and for one intermediate
     "max_work": 2e10}                         most multiplications and additions in matrix products and convolutions

Writes out/task.py, the text with other numbers in it and otherwise the same, and out/sizes.json: which sizes changed,
from what to what, and the bytes and the work before and after. A task that fits comes back as it is.

A size is a module-level `NAME = 4096`, `NAME = 2048 * 2` or an element of `NAME = (64, 512)`. The batch is halved first,
then the largest size, together with those of the same value, so that what is square stays square. What is derived from
a size follows. A size whose half the model refuses stays, or goes with others of its value. Odd sizes stay odd, multiples of 16 stay such as long as they are above 16.
"""

import ast
import json
import os
import re
import sys

if __name__ == "__main__":
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

from kerf.task_module import TaskError, describe  # noqa: E402

# Not sizes of tensors, or not to be touched: what an operator is, not how much it has to do.
NOT_SIZES = re.compile(r"(?i:kernel|stride|pad|dilat|group|axis|seed|eps|layers|heads|steps|factor|ratio|topk)|^dim$|^k$")
BATCH = re.compile(r"batch|^b$|^bs$|^n_?samples$", re.IGNORECASE)
# Channels are few and decide which kernel is the right one.
CHANNELS = re.compile(r"channel|feature|class|hidden|embed|^c$|^c_(in|out)$", re.IGNORECASE)
SMALLEST = 8
# How small batches, channels and other sizes may become; the next row only when the one before is not enough.
FLOORS = ({"batch": 16, "channels": 64, "other": 256}, {"batch": 2, "channels": 64, "other": 64},
          {"batch": 2, "channels": 16, "other": 16}, {"batch": 1, "channels": 1, "other": 1})


class Size:
    """A number in the text."""

    def __init__(self, name, value, node):
        self.name, self.value, self.original = name, value, value
        self.line, self.first, self.last = node.lineno, node.col_offset, node.end_col_offset
        self.one_line = node.lineno == node.end_lineno

    @property
    def kind(self):
        return "batch" if BATCH.search(self.name) else "channels" if CHANNELS.search(self.name) else "other"

    def half(self):
        half = self.value // 2
        if self.original % 2:
            return half | 1
        return half if self.original % 16 or half < 16 else half // 16 * 16


def find_sizes(text):
    """The sizes of a task's text, in order."""
    sizes = []
    for statement in ast.parse(text).body:
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            continue
        target, value = statement.targets[0], statement.value
        if isinstance(target, ast.Name):
            pairs = [(target.id, value)]
            if isinstance(value, (ast.Tuple, ast.List)):
                pairs = [(target.id, item) for item in value.elts]
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            pairs = [(name.id, item) for name, item in zip(target.elts, value.elts) if isinstance(name, ast.Name)]
        else:
            continue
        for name, item in pairs:
            number = number_of(item)
            if number is not None and number > SMALLEST and not NOT_SIZES.search(name):
                sizes.append(Size(name, number, item))
    return [size for size in sizes if size.one_line]


def number_of(node):
    """The value of an integer expression without names, else None."""
    allowed = (ast.Constant, ast.BinOp, ast.Mult, ast.Add, ast.Sub, ast.FloorDiv, ast.Pow, ast.LShift)
    if not all(isinstance(part, allowed) for part in ast.walk(node)):
        return None
    if isinstance(node, ast.BinOp) and sum(1 for _ in ast.walk(node)) > 15:
        return None
    try:
        value = eval(compile(ast.Expression(node), "size", "eval"), {"__builtins__": {}})
    except Exception:
        return None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def edit(text, sizes):
    """The text with the sizes' values; a size that kept its value keeps its spelling."""
    lines = text.split("\n")
    for size in sorted(sizes, key=lambda one: (one.line, one.first), reverse=True):
        if size.value != size.original:
            line = lines[size.line - 1].encode("utf-8")  # ast counts bytes
            line = line[:size.first] + str(size.value).encode("ascii") + line[size.last:]
            lines[size.line - 1] = line.decode("utf-8")
    return "\n".join(lines)


class TooLarge(Exception):
    """No choice of sizes is small enough."""


def shrink(text, measure, max_bytes, max_work):
    """(text, report). `measure(text)` gives (bytes, work) or raises when the task does not work."""
    sizes = find_sizes(text)
    before = now = measure(text)

    def excess(measured):
        return max(measured[0] / max_bytes, measured[1] / max_work)

    while excess(now) > 1:
        step = best_step(text, sizes, measure, now, excess)
        if step is None:
            raise TooLarge(f"{now[0]} bytes and {now[1]:.3g} operations, and no size can be halved any more")
        now = step
    changed = [{"name": size.name, "line": size.line, "from": size.original, "to": size.value}
               for size in sizes if size.value != size.original]
    report = {"changed": changed, "bytes_before": before[0], "bytes": now[0], "work_before": before[1], "work": now[1]}
    return edit(text, sizes), report


def best_step(text, sizes, measure, now, excess):
    """Halves what is best to halve and gives the new measure; None when nothing can be."""
    for floors in FLOORS:
        for group in groups(sizes, floors):
            measured = try_half(text, sizes, group, measure)
            if measured is not None and excess(measured) < excess(now):
                set_half(group)
                return measured
    return None


def groups(sizes, floors):
    """What may be halved in one step, best first: batches, then sizes of one value together, the largest first, then
    each of those alone."""
    able = [size for size in sizes if floors[size.kind] <= size.half() < size.value]
    alike = {}
    for size in able:
        if size.kind != "batch":
            alike.setdefault((size.original, size.kind), []).append(size)
    others = sorted(alike.values(), key=lambda group: -group[0].value)
    alone = [[size] for group in others if len(group) > 1 for size in group]
    everyone = {}
    for size in able:
        everyone.setdefault(size.value, []).append(size)
    return ([[size] for size in able if size.kind == "batch"] + others + alone
            + [group for group in everyone.values() if len(group) > 1])


def set_half(group):
    for size in group:
        size.value = size.half()


def try_half(text, sizes, group, measure):
    values = [size.value for size in group]
    set_half(group)
    try:
        return measure(edit(text, sizes))
    except (TaskError, ArithmeticError, ValueError):
        return None  # the model does not work with it
    finally:
        for size, value in zip(group, values):
            size.value = value


def main(argv):
    request = json.loads(sys.stdin.read() if argv[1] == "-" else argv[1])
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.makedirs(request["out"], exist_ok=True)
    with open(request["task"], encoding="utf-8") as file:
        text = file.read()
    from kerf import task_measure
    try:
        measure = task_measure.get(request["framework"])
        text, report = shrink(text, measure, int(request["max_bytes"]), float(request["max_work"]))
        measure.verify(text)
    except (TaskError, TooLarge, ImportError) as error:
        report = {"error": describe(error)}
    with open(os.path.join(request["out"], "task.py"), "w", encoding="utf-8") as file:
        file.write(text)
    with open(os.path.join(request["out"], "sizes.json"), "w", encoding="utf-8") as file:
        json.dump(report, file)
        file.write("\n")
    return 1 if "error" in report else 0


if __name__ == "__main__":
    code = main(sys.argv)
    sys.stderr.flush()
    os._exit(code)
