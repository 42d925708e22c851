"""Arguments and results of a model, taken apart into tensors and plain values.

A container that holds a tensor somewhere counts as its items: input0.1 is the second item of the first input. Any
other value is one argument, however deep.
"""

import math

INT64 = range(-(2**63), 2**63)


class Call:
    """Arguments of one call."""

    def __init__(self, args, kwargs):
        self.args = tuple(args)
        self.kwargs = dict(kwargs)

    @staticmethod
    def of(framework, inputs):
        """From what get_inputs() returned: a list, a dictionary of keyword arguments, or one value."""
        if isinstance(inputs, dict):
            return Call((), inputs)
        if isinstance(inputs, (list, tuple)) and not framework.is_tensor(inputs):
            return Call(inputs, {})
        return Call((inputs,), {})

    def leaves(self, framework, prefix="input"):
        """[(name, value)] in order."""
        found = []
        for index, value in enumerate(self.args):
            _take_apart(framework, f"{prefix}{index}", value, found)
        for key, value in self.kwargs.items():
            _take_apart(framework, str(key), value, found)
        return found

    def with_leaves(self, framework, leaves):
        """The same call with other values for its leaves."""
        rest = iter(leaves)
        args = [_put_together(framework, value, rest) for value in self.args]
        return Call(args, {key: _put_together(framework, value, rest) for key, value in self.kwargs.items()})

    def map_tensors(self, framework, function):
        leaves = [value for _, value in self.leaves(framework)]
        return self.with_leaves(
            framework, [function(value) if framework.is_tensor(value) else value for value in leaves])


def holds_tensor(framework, value):
    if framework.is_tensor(value):
        return True
    if isinstance(value, dict):
        return any(holds_tensor(framework, item) for item in value.values())
    return isinstance(value, (list, tuple)) and any(holds_tensor(framework, item) for item in value)


def map_tensors(framework, value, function):
    """`value` with every tensor in it replaced."""
    return Call((value,), {}).map_tensors(framework, function).args[0]


def _take_apart(framework, name, value, found):
    if framework.is_tensor(value) or not holds_tensor(framework, value):
        found.append((name, value))
    elif isinstance(value, dict):
        for key, item in value.items():
            _take_apart(framework, f"{name}.{key}", item, found)
    else:
        for index, item in enumerate(value):
            _take_apart(framework, f"{name}.{index}", item, found)


def _put_together(framework, value, rest):
    if framework.is_tensor(value) or not holds_tensor(framework, value):
        return next(rest)
    if isinstance(value, dict):
        return {key: _put_together(framework, item, rest) for key, item in value.items()}
    items = [_put_together(framework, item, rest) for item in value]
    return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)


def outputs_of(framework, result):
    """([(name, tensor)], notes) of what a model returned. Numbers become tensors without dimensions."""
    found, notes = [], []
    if isinstance(result, dict):
        for key, value in result.items():
            _take_output(framework, str(key), value, found, notes)
    elif isinstance(result, (list, tuple)) and not framework.is_tensor(result):
        for index, value in enumerate(result):
            _take_output(framework, f"output{index}", value, found, notes)
    else:
        _take_output(framework, "output0", result, found, notes)
    if not found:
        raise ValueError("the model returned nothing to compare")
    return found, notes


def _take_output(framework, name, value, found, notes):
    if framework.is_tensor(value):
        found.append((name, value))
    elif isinstance(value, (bool, int, float, complex)):
        found.append((name, framework.scalar(value)))
    elif isinstance(value, dict):
        for key, item in value.items():
            _take_output(framework, f"{name}.{key}", item, found, notes)
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            _take_output(framework, f"{name}.{index}", item, found, notes)
    elif value is None:
        notes.append(f"{name} is None and left out")
    else:
        raise TypeError(f"{name} is a {type(value).__name__}, which is neither a tensor nor a number")


def _number(value):
    if math.isfinite(value):
        return value
    return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")


def describe(name, value):
    """The manifest's entry of a value that is no tensor."""
    entry = {"name": name}
    if value is None:
        entry["kind"] = "none"
    elif isinstance(value, bool):
        entry.update(kind="bool", value=value)
    elif isinstance(value, int) and int(value) in INT64:
        entry.update(kind="int", value=int(value))
    elif isinstance(value, float):
        entry.update(kind="float", value=_number(float(value)))
    elif isinstance(value, str):
        entry.update(kind="string", value=value)
    elif isinstance(value, (list, tuple)) and all(_is_int(item) for item in value):
        entry.update(kind="ints", value=[int(item) for item in value])
    elif isinstance(value, (list, tuple)) and all(_is_int(item) or isinstance(item, float) for item in value):
        entry.update(kind="floats", value=[_number(float(item)) for item in value])
    else:
        entry.update(kind="other", value=_repr(value))
    return entry


def restore(entry, shown):
    """The value that describe() described. `shown` is one of its kind: what JSON cannot hold is taken from there."""
    kind = entry["kind"]
    if kind in ("int", "bool", "string"):
        return entry["value"]
    if kind == "float":
        return float(entry["value"])
    if kind in ("ints", "floats"):
        items = [float(item) for item in entry["value"]] if kind == "floats" else entry["value"]
        return tuple(items) if isinstance(shown, tuple) else items
    return shown


def _is_int(value):
    return isinstance(value, int) and not isinstance(value, bool) and int(value) in INT64


def _repr(value):
    try:
        return repr(value)[:1000]
    except Exception as error:  # a repr of somebody's class may raise anything
        return f"<{type(value).__name__} whose repr raises {type(error).__name__}>"
