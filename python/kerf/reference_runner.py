"""Makes the reference of a task: the folder of docs/formats/reference.md.

    python3 reference_runner.py REQUEST        REQUEST is JSON, or - to read it from standard input

    {"task": "/kerf/task/relu_torch.py",       the task file
     "framework": "torch",                     torch, numpy or mindspore
     "out": "out",                             the folder to fill; made when missing
     "seeds": [0, 1, 2],                       one case for each (and each variant of a dynamic task)
     "hidden": 1,                              how many cases with hidden shapes to try; default 0
     "twin": true,                             a second case that differs from the first in one element; default false
     "check": true,                            fill `checks`; default false
     "baselines": ["eager", "torch.compile"],  default none
     "oracle": true, "lower": true,            default true
     "threads": 2,                             default: as the framework likes
     "check_seconds": 20,                      most time for finding out what each tensor changes
     "hang_seconds": 290}                      after so long the place where it hangs goes to stderr

Exit code 0: there is a manifest. 1: the task cannot be used, and out/error.json says why. out/started tells that the
interpreter came as far as this file.

What the task prints to standard output is dropped: it is nobody's data.
"""

import faulthandler
import json
import os
import platform
import sys
import traceback

# Run as a file, so that the path holds this folder's parent and not the folder, whose names are common ones.
sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

from kerf import baselines, frameworks, hidden_shapes, task_checks, twin_case, values  # noqa: E402
from kerf.reference_case import Case, discarding  # noqa: E402
from kerf.task_module import Task, TaskError, stage  # noqa: E402

# An element may not matter: relu() of another negative value is the same.
TWIN_ATTEMPTS = 4


def make_reference(request):
    with stage("import"):
        framework = frameworks.get(request["framework"])
    if request.get("threads"):
        framework.set_threads(int(request["threads"]))
    task = Task(request["task"])
    seeds = request.get("seeds") or [0]
    manifest = {
        "format": "kerf-reference", "version": 1, "task_sha256": task.sha256, "framework": framework.name,
        "framework_version": framework.version, "python": platform.python_version(), "dynamic": task.dynamic,
        "threads": int(request.get("threads") or 0), "hidden_note": "", "init": [], "cases": [], "notes": []}
    maker = Maker(framework, task, request, manifest)
    for seed in seeds:
        maker.add_seed(seed)
    maker.add_hidden(seeds, int(request.get("hidden") or 0))
    return manifest


class Maker:
    """Adds cases to a manifest. Only the case at work is in memory."""

    def __init__(self, framework, task, request, manifest):
        self.framework, self.task, self.request, self.manifest = framework, task, request, manifest

    def add_seed(self, seed):
        model, init = self.task.model(self.framework, seed)
        if not self.manifest["cases"]:
            self.manifest["init"] = [values.describe(name, value) for name, value in init_values(init)]
        calls = self.task.draw(self.framework, seed)
        for variant in range(len(calls)):
            call, calls[variant] = calls[variant], None  # one less reference to large tensors
            self._add(seed, variant, False, model, call)

    def _add(self, seed, variant, hidden, model, call):
        case = Case(self.framework, self.task, self.request["out"], len(self.manifest["cases"]), model, call)
        case.entry.update(seed=seed, variant=variant, hidden=hidden)
        files = [os.path.join(self.request["out"], case.entry[key]) for key in ("input_file", "output_file")]
        with discarding(files):
            case.write(self.request.get("oracle", True), self.request.get("lower", True))
        self.manifest["cases"].append(case.entry)
        self.manifest["notes"] += [note for note in case.notes if note not in self.manifest["notes"]]
        if len(self.manifest["cases"]) == 1:
            self._first_case(case, seed)
            if self.request.get("twin"):
                self._add_twin(case, seed)

    def _add_twin(self, first, seed):
        for attempt in range(TWIN_ATTEMPTS):
            call = twin_case.draw(self.framework, first.fresh_call(), seed + 15485863 * (attempt + 1))
            if call is None:
                return
            try:
                same = first.gives_stored_outputs(first.run(call=call.map_tensors(self.framework, self.framework.copy)))
            except TaskError:
                return  # not every input may be changed
            if not same:
                self._add(seed, 0, False, first.model, call)
                self.manifest["cases"][-1]["twin_of"] = 0
                return

    def _first_case(self, case, seed):
        if self.request.get("check"):
            self.manifest["checks"] = task_checks.check(
                self.framework, self.task, case, seed, float(self.request.get("check_seconds", 20)))
        names = self.request.get("baselines") or []
        self.manifest["baselines"] = baselines.measure(self.framework, case, names)

    def add_hidden(self, seeds, count):
        if not count:
            return
        if not self.task.dynamic:
            self.manifest["hidden_note"] = "the task shows one shape only"
            return
        for index in range(count):
            seed = seeds[index % len(seeds)]
            model, _ = self.task.model(self.framework, seed)
            try:
                calls = self.task.draw(self.framework, seed)
                # Its own stream of numbers: the shown variants must not tell the hidden ones.
                call, like = hidden_shapes.draw(self.framework, calls, seed + 104729 * (index + 1))
                self._add(seed, like, True, model, call)
            except hidden_shapes.NoHiddenShape as error:
                self.manifest["hidden_note"] = str(error)
                return
            except TaskError as error:
                self.manifest["hidden_note"] = f"the reference refuses a hidden shape: {error.message}"[:500]
                return


def init_values(init):
    return [(f"init{index}", value) for index, value in enumerate(init.args)] + list(init.kwargs.items())


def write_json(path, document):
    """In one step: a reader sees a whole file or none."""
    with open(path + ".tmp", "w", encoding="utf-8", errors="replace") as file:
        json.dump(document, file, ensure_ascii=True, allow_nan=False)
        file.write("\n")
    os.rename(path + ".tmp", path)


def silence_stdout():
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.close(null)


def main(argv):
    if len(argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    request = json.loads(sys.stdin.read() if argv[1] == "-" else argv[1])
    silence_stdout()
    faulthandler.enable()
    if request.get("hang_seconds"):
        faulthandler.dump_traceback_later(float(request["hang_seconds"]))
    out = request["out"]
    os.makedirs(out, exist_ok=True)
    with open(os.path.join(out, "started"), "w", encoding="ascii"):
        pass
    try:
        manifest = make_reference(request)
        with stage("write"):
            write_json(os.path.join(out, "manifest.json"), manifest)
    except TaskError as error:
        write_json(os.path.join(out, "error.json"),
                   {"stage": error.stage, "message": error.message, "line": error.line, "traceback": error.trace})
        return 1
    except Exception as error:  # not the task's fault, and it must not look so
        write_json(os.path.join(out, "error.json"),
                   {"stage": "kerf", "message": f"{type(error).__name__}: {error}"[:500], "line": 0,
                    "traceback": traceback.format_exc()[-4000:]})
        return 1
    return 0


if __name__ == "__main__":
    code = main(sys.argv)
    sys.stderr.flush()
    # At once: what a task registered to run at the end could undo the result, and torch takes its time.
    os._exit(code)
