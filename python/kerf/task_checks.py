"""Is the task fit to judge candidates by? What the runner can tell: determinism, and what the output depends on."""

import time

from kerf import values
from kerf.raw_file import same_bytes

OTHER_SEED = 7919
# Counts calls in training; an output in evaluation cannot depend on it.
BOOK_KEEPING = ("num_batches_tracked",)


def check(framework, task, case, seed, seconds):
    """The manifest's `checks`, from the first case."""
    notes = _differences(framework, task, case, seed)
    influence, note = _influence(framework, task, case, seed, time.monotonic() + seconds)
    return {"deterministic": not notes, "note": "; ".join(notes + note), "influence": influence}


def _differences(framework, task, case, seed):
    """What is not the same a second time."""
    notes = []
    variant = case.entry["variant"]
    model, _ = task.model(framework, seed)
    call = task.draw(framework, seed)[variant]
    drawn = [value for _, value in call.leaves(framework)]
    for entry, value in zip(case.entry["inputs"], drawn):
        if entry["kind"] == "tensor" and not case.is_stored(entry, value):
            notes.append(f"{entry['name']} differs when it is drawn again with the same seed")
    again = dict(framework.tensors_of(model))
    for entry in case.entry["parameters"]:
        if entry["name"] not in again or not case.is_stored(entry, again[entry["name"]]):
            notes.append(f"{entry['name']} differs when it is made again with the same seed")
    if not notes and not case.gives_stored_outputs(case.run(model, call)):
        notes.append("the outputs differ when the task is run again with the same seed")
    if not case.gives_stored_outputs(case.run(call=case.fresh_call())):
        notes.append("the outputs differ when the model is called again with the same inputs")
    return notes


def _influence(framework, task, case, seed, deadline):
    """For each tensor: does another one change the output?"""
    other_model, _ = task.model(framework, seed + OTHER_SEED)
    other_call = task.draw(framework, seed + OTHER_SEED)[case.entry["variant"]]

    def run(model, call):
        framework.seed(seed)  # a model that draws must draw the same each time
        found, _ = values.outputs_of(framework, framework.call(model, call))
        return [(tuple(framework.shape(tensor)), framework.buffer(framework.copy(tensor))) for _, tensor in found]

    base = run(case.model, case.fresh_call())

    def changes(model, call):
        try:
            result = run(model, call)
        except Exception:  # it was looked at, and did not please
            return True
        return len(result) != len(base) or any(
            new[0] != old[0] or not same_bytes(new[1], old[1]) for new, old in zip(result, base))

    influence, note = [], []
    for name, model, call in _replacements(framework, case, other_model, other_call):
        if time.monotonic() > deadline:
            note.append(f"no time to see what {name} and the tensors after it change")
            break
        influence.append({"name": name, "changes_output": changes(model, call)})
    return influence, note


def _replacements(framework, case, other_model, other_call):
    """(name, model, call) with one tensor replaced, one after the other."""
    others = [value for _, value in other_call.leaves(framework)]
    for index, (name, value) in enumerate(case.call.leaves(framework)):
        if not framework.is_tensor(value) or 0 in framework.shape(value):
            continue
        leaves = [item for _, item in case.fresh_call().leaves(framework)]
        leaves[index] = _another(framework, value, others[index] if index < len(others) else None)
        yield name, case.model, case.call.with_leaves(framework, leaves)
    other_tensors = dict(framework.tensors_of(other_model))
    for name, tensor in framework.tensors_of(case.model):
        if name.split(".")[-1] in BOOK_KEEPING or 0 in framework.shape(tensor):
            continue
        before = framework.copy(tensor)
        framework.set_tensor(case.model, name, _another(framework, before, other_tensors.get(name)))
        yield name, case.model, case.fresh_call()
        framework.set_tensor(case.model, name, before)


def _another(framework, tensor, other):
    """The other draw, or a changed copy when that is no different."""
    fits = (other is not None and framework.is_tensor(other) and framework.dtype(other) == framework.dtype(tensor)
            and framework.shape(other) == framework.shape(tensor))
    if fits and not same_bytes(framework.buffer(other), framework.buffer(tensor)):
        return framework.copy(other)
    return framework.perturb(tensor)
