"""How long the reference takes, eager and compiled: raw samples."""

import time

from kerf.task_module import describe

WARM_UP = 3
SECONDS = 1.0
LEAST, MOST = 5, 100


def measure(framework, case, names):
    """[{"name", "samples_ns"} or {"name", "error"}]."""
    found = []
    for name in names:
        try:
            if name == "eager":
                model = case.model
            elif name == "torch.compile":
                model = framework.compiled(case.model)
            else:
                raise ValueError("unknown baseline")
            found.append({"name": name, "samples_ns": samples(framework, case, model)})
        except BaseException as error:  # a compiler may fail in any way, and exit as well
            text = describe(error).strip().splitlines()
            found.append({"name": name, "error": (text[0] if text else "failed")[:500]})
    return found


def samples(framework, case, model):
    for _ in range(WARM_UP):
        framework.call(model, case.fresh_call())
    taken = []
    end = time.monotonic() + SECONDS
    while len(taken) < LEAST or (len(taken) < MOST and time.monotonic() < end):
        call = case.fresh_call()
        begin = time.perf_counter_ns()
        framework.call(model, call)
        taken.append(time.perf_counter_ns() - begin)
    return taken
