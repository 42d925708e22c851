"""Captures a task as a graph of tensor operations: docs/formats/graph.md.

    python3 graph_runner.py REQUEST            REQUEST is JSON, or - to read it from standard input

    {"task": "/kerf/task/relu_torch.py", "framework": "torch",
     "out": "out",                             the folder to fill; made when missing
     "threads": 2,                             default: as the framework likes
     "hang_seconds": 55}                       after so long the place where it hangs goes to stderr

Writes graph-0.json, and one file more for each further variant of a dynamic task; each is a graph or says why there is
none. Exit code 0: they are there. 1: the task cannot be used, and out/error.json says why.
"""

import faulthandler
import json
import os
import sys

# Run as a file, so that the path holds this folder's parent and not the folder, whose names are common ones.
sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

from kerf import frameworks  # noqa: E402
from kerf.graph_build import Refused  # noqa: E402
from kerf.reference_runner import silence_stdout, write_json  # noqa: E402
from kerf.task_module import Task, TaskError, stage  # noqa: E402

# Drawn twice, so that what was taken for a constant can be seen to change.
SEEDS = (0, 1)


def capture_all(request):
    """[document], one for each variant."""
    name = request["framework"]
    with stage("import"):
        framework = frameworks.get(name)
        if name == "torch":
            from kerf import graph_torch as capture
        elif name == "mindspore":
            from kerf import graph_mindspore as capture
        else:
            from kerf import graph_numpy as capture
    if request.get("threads"):
        framework.set_threads(int(request["threads"]))
    task = Task(request["task"])
    drawn = []
    for seed in SEEDS:
        model, _ = task.model(framework, seed)
        drawn.append((model, task.draw(framework, seed)))
    if len({len(calls) for _, calls in drawn}) != 1:
        return [Refused("shapes", "get_inputs_dyn_list() returns another number of variants each time").document()]
    documents = []
    for variant in range(len(drawn[0][1])):
        pairs = [(model, calls[variant]) for model, calls in drawn]
        documents.append(capture_one(framework, capture, task, pairs))
    return documents


def capture_one(framework, capture, task, pairs):
    try:
        with stage("run", task.path):
            document = capture.capture(framework, task, pairs)
    except TaskError as error:
        cause = error.__cause__
        while cause is not None and not isinstance(cause, Refused):
            cause = cause.__cause__ or cause.__context__
        if cause is None:
            raise
        return cause.document()
    return document


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
        for index, document in enumerate(capture_all(request)):
            with stage("write"):
                write_json(os.path.join(out, f"graph-{index}.json"), document)
    except TaskError as error:
        write_json(os.path.join(out, "error.json"),
                   {"stage": error.stage, "message": error.message, "line": error.line, "traceback": error.trace})
        return 1
    return 0


if __name__ == "__main__":
    code = main(sys.argv)
    sys.stderr.flush()
    os._exit(code)  # at once, as reference_runner.py does
