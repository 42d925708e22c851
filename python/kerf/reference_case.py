"""One case of a reference: inputs and parameters written, the model run, its answers written."""

import contextlib
import itertools
import math
import os
import time

from kerf import frameworks, values
from kerf.raw_file import RawReader, RawWriter, same_bytes
from kerf.task_module import describe, stage

# A run as short as this is repeated: the first one also pays for what the framework sets up once.
SHORT_NS = 250_000_000

# How far the inputs are moved to see how much the outputs follow: far above the roundings of float64, far below
# those of float32.
SHAKE = 2.0**-30
# Outputs with fewer elements are moved several times.
FEW = 1 << 16


def stored_length(entry):
    """Bytes of a tensor in its file, from its entry in the manifest."""
    length = {"bool": 1, "float8_e4m3fn": 1, "float8_e5m2": 1, "bfloat16": 2}.get(entry["dtype"])
    if length is None:
        length = int("".join(c for c in entry["dtype"] if c.isdigit())) // 8
    for size in entry["shape"]:
        length *= size
    return length


class Case:
    """Holds the model and the inputs as they were drawn, and the files that can restore them."""

    def __init__(self, framework, task, folder, number, model, call):
        self.framework, self.task, self.folder, self.number = framework, task, folder, number
        self.model, self.call = model, call
        self.entry = {"input_file": f"case-{number}.in", "output_file": f"case-{number}.out"}
        self.notes = []
        self.changes_inputs = False

    # Writing.

    def _tensor_entry(self, writer, name, tensor, kind=None):
        framework = self.framework
        entry = {"name": name, "dtype": framework.dtype(tensor), "shape": framework.shape(tensor)}
        if kind:
            entry["kind"] = kind
        buffer = framework.buffer(tensor)
        with stage("write"):
            entry["offset"] = writer.add(buffer)
        return entry

    def write_inputs(self):
        with stage("write"):
            writer = RawWriter(os.path.join(self.folder, self.entry["input_file"]))
        with stage("inputs"):
            self.entry["inputs"] = [
                self._tensor_entry(writer, name, value, "tensor") if self.framework.is_tensor(value)
                else values.describe(name, value) for name, value in self.call.leaves(self.framework)]
            self.entry["parameters"] = [self._tensor_entry(writer, name, tensor, "tensor")
                                        for name, tensor in self.framework.tensors_of(self.model)]
        writer.close()
        self._stored = RawReader(os.path.join(self.folder, self.entry["input_file"]))

    def run(self, model=None, call=None):
        return self.task.run(self.framework, model or self.model, call or self.call)

    def outputs(self, result):
        with stage("run", self.task.path):
            return values.outputs_of(self.framework, result)

    def write(self, with_oracle=True, with_lower=True):
        """Everything of the case; its entry is then complete."""
        self.write_inputs()
        begin = time.perf_counter_ns()
        result = self.run()
        self.entry["reference_ns"] = time.perf_counter_ns() - begin
        found, notes = self.outputs(result)
        self.notes += notes
        path = os.path.join(self.folder, self.entry["output_file"])
        with stage("write"):
            writer = RawWriter(path)
        with stage("run"):
            self.entry["outputs"] = [self._tensor_entry(writer, name, tensor) for name, tensor in found]
        del result, found
        self._notice_changes()
        if self.entry["reference_ns"] < SHORT_NS:
            begin = time.perf_counter_ns()
            self.run()
            self.entry["reference_ns"] = min(self.entry["reference_ns"], time.perf_counter_ns() - begin)
            self._notice_changes()
        nothing = [None] * len(self.entry["outputs"])
        self.entry.update(oracle=nothing, oracle_note="", lower=nothing, lower_precision="", condition=nothing)
        if with_oracle:
            exact = self._write_oracle(writer)
        if with_lower:
            self._write_lower(writer)
        if with_oracle:
            self._write_condition(writer, exact)
        writer.close()

    # What the reference did to its inputs.

    def _restore(self, entry):
        framework = self.framework
        length = stored_length(entry)
        return framework.from_buffer(entry["dtype"], entry["shape"], self._stored.view(entry["offset"], length))

    def is_stored(self, entry, tensor):
        """Whether the tensor's bytes are those in the file."""
        if self.framework.dtype(tensor) != entry["dtype"] or self.framework.shape(tensor) != entry["shape"]:
            return False
        return same_bytes(self.framework.buffer(tensor), self._stored.view(entry["offset"], stored_length(entry)))

    def _notice_changes(self):
        """A reference may write into its arguments. The files hold them as they were."""
        changed = []
        leaves = [value for _, value in self.call.leaves(self.framework)]
        for index, entry in enumerate(self.entry["inputs"]):
            if entry["kind"] == "tensor" and not self.is_stored(entry, leaves[index]):
                leaves[index] = self._restore(entry)
                changed.append(entry["name"])
        if changed:
            self.call = self.call.with_leaves(self.framework, leaves)
            self.changes_inputs = True
        tensors = dict(self.framework.tensors_of(self.model))
        for entry in self.entry["parameters"]:
            if entry["name"] in tensors and not self.is_stored(entry, tensors[entry["name"]]):
                self.framework.set_tensor(self.model, entry["name"], self._restore(entry))
                changed.append(entry["name"])
        for name in changed:
            note = f"the reference changes {name} in place"
            if note not in self.notes:
                self.notes.append(note)

    def fresh_call(self):
        """The inputs, as copies when the reference would change them."""
        if not self.changes_inputs:
            return self.call
        return self.call.map_tensors(self.framework, self.framework.copy)

    # The same in another precision.

    def _rerun(self, table, dtype, change=None, counter=None):
        framework = self.framework
        model = framework.copy_model(self.model)
        framework.cast_model(model, table)
        call = self.fresh_call().map_tensors(framework, lambda tensor: framework.cast(tensor, table))
        if change:
            for name, tensor in list(framework.tensors_of(model)):
                framework.set_tensor(model, name, change(tensor))
            call = call.map_tensors(framework, change)
        with framework.computing_in(dtype), counter or contextlib.nullcontext():
            return values.outputs_of(framework, framework.call(model, call))[0]

    def _write_oracle(self, writer):
        """Returns the tensors it wrote, None for each output without one."""
        counter = self.framework.work_counter()
        try:
            found = self._rerun(frameworks.ORACLE, "float64", counter=counter)
        except BaseException as error:
            self.entry["oracle_note"] = f"the reference does not run in float64: {describe(error)}"[:500]
            return [None] * len(self.entry["outputs"])
        if counter:
            self.entry["operations"] = counter.work
        notes, oracle, exact = [], [], []
        for entry, (name, tensor) in _pairs(self.entry["outputs"], found):
            wanted = frameworks.oracle_dtype(entry["dtype"])
            got = None if tensor is None else self.framework.dtype(tensor)
            if tensor is None or self.framework.shape(tensor) != entry["shape"]:
                notes.append(f"{entry['name']} has another shape in float64")
                oracle.append(None)
            elif got != wanted:
                notes.append(f"{entry['name']} comes out as {got}: the reference fixes its precision")
                oracle.append(None)
            else:
                oracle.append(self._tensor_entry(writer, name, tensor))
            exact.append(tensor if oracle[-1] else None)
        self.entry["oracle"], self.entry["oracle_note"] = oracle, "; ".join(notes)
        return exact

    def _write_condition(self, writer, exact):
        """How far each output element moves with its inputs: what roundings of the steps before it cost."""
        wanted = [tensor is not None and entry["dtype"] in ("float32", "float64")
                  for entry, tensor in zip(self.entry["outputs"], exact)]
        if not any(wanted):
            return
        # Where a few elements stand for a magnitude, one whose terms moved alike by chance would speak for all of them.
        few = sum(math.prod(entry["shape"]) for entry in self.entry["outputs"]) < FEW
        turns = itertools.count()  # two tensors of one size must not move alike either: their products would cancel
        moves = []
        for _ in range(4 if few else 1):
            try:
                moves.append(self._moved(exact, wanted, turns))
            except BaseException:  # a reference that refuses such inputs tells nothing here
                return
        condition = []
        for entry, found in zip(self.entry["outputs"], zip(*moves)):
            usable = all(one is not None for one in found)
            typical = (sum(one * one for one in found) / len(found)) ** 0.5 if usable else None
            condition.append(self._tensor_entry(writer, entry["name"], typical) if usable else None)
        self.entry["condition"] = condition

    def _moved(self, exact, wanted, turns):
        """For each output how far it went when the inputs moved; None where there is nothing to compare."""
        framework = self.framework
        found = self._rerun(frameworks.ORACLE, "float64", lambda tensor: framework.shake(tensor, SHAKE, next(turns)))
        moved = []
        for index, (entry, (_, tensor)) in enumerate(_pairs(self.entry["outputs"], found)):
            usable = wanted[index] and tensor is not None and framework.shape(tensor) == entry["shape"]
            moved.append(framework.distance(tensor, exact[index], SHAKE) if usable else None)
        return moved

    def _write_lower(self, writer):
        dtype = next((entry["dtype"] for entry in self.entry["outputs"] if entry["dtype"] in frameworks.FLOATS), "")
        target = frameworks.LOWER.get(dtype)
        if target is None or not self.framework.can_lower_to(target):
            return
        try:
            found = self._rerun(frameworks.LOWER, target)
        except BaseException:  # many operators have no half precision; there is then nothing to tell
            return
        lower = []
        for entry, (name, tensor) in _pairs(self.entry["outputs"], found):
            usable = (tensor is not None and entry["dtype"] in frameworks.FLOATS
                      and self.framework.shape(tensor) == entry["shape"])
            if usable:
                back = {self.framework.dtype(tensor): entry["dtype"]}
                lower.append(self._tensor_entry(writer, name, self.framework.cast(tensor, back)))
            else:
                lower.append(None)
        self.entry["lower"] = lower
        self.entry["lower_precision"] = target if any(lower) else ""

    # Comparing with the answers on file.

    def stored_outputs(self):
        reader = RawReader(os.path.join(self.folder, self.entry["output_file"]))
        return [reader.view(entry["offset"], stored_length(entry)) for entry in self.entry["outputs"]]

    def gives_stored_outputs(self, result):
        found, _ = self.outputs(result)
        stored = self.stored_outputs()
        return len(found) == len(stored) and all(
            same_bytes(self.framework.buffer(tensor), view) for (_, tensor), view in zip(found, stored))


def _pairs(entries, found):
    """Each output with what a rerun gave for it, (name, None) when it gave too few."""
    for index, entry in enumerate(entries):
        yield entry, found[index] if index < len(found) else (entry["name"], None)


@contextlib.contextmanager
def discarding(paths):
    """Removes these files when the block fails."""
    try:
        yield
    except BaseException:
        for path in paths:
            with contextlib.suppress(OSError):
                os.remove(path)
        raise
