"""cases.py OUT TASK...: for each task OUT/NAME.json, its graph, and OUT/NAME.case, one call with the reference's results.

A case is little-endian: four counts (inputs, params, init, outputs) as int64, then the tensors in that order, each as code and
bits (DLPack's), rank, shape as int64, and its bytes. What is no tensor has the code -1 and nothing else.
"""

import json
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "python"))

import torch  # noqa: E402

from kerf import frameworks, graph_runner, values  # noqa: E402
from kerf.task_module import Task  # noqa: E402

CODES = {torch.float16: 2, torch.float32: 2, torch.float64: 2, torch.bfloat16: 4, torch.bool: 6, torch.uint8: 1}


def packed(value):
    if isinstance(value, (bool, int, float)):
        value = torch.tensor(value, dtype={bool: torch.bool, int: torch.int64, float: torch.float64}[type(value)])
    if not isinstance(value, torch.Tensor):
        return struct.pack("<q", -1)
    value = value.detach().contiguous()
    head = [CODES.get(value.dtype, 0), value.element_size() * 8, value.dim(), *value.shape]
    data = value.reshape(-1).view(torch.uint8).numpy().tobytes() if value.numel() else b""
    return struct.pack(f"<{len(head)}q", *head) + data


def case(path, seed=5):
    framework, task = frameworks.get("torch"), Task(path)
    model, init = task.model(framework, seed)
    call = task.draw(framework, seed)[0]
    groups = [[value for _, value in call.leaves(framework)],
              [value for _, value in framework.tensors_of(model)], [],
              [value for _, value in values.outputs_of(framework, task.run(framework, model, call))[0]]]
    return struct.pack("<4q", *map(len, groups)) + b"".join(packed(value) for group in groups for value in group)


def main():
    out = pathlib.Path(sys.argv[1])
    for path in sys.argv[2:]:
        name = pathlib.Path(path).stem
        graph = graph_runner.capture_all({"task": path, "framework": "torch", "threads": 1})[0]
        (out / f"{name}.json").write_text(json.dumps(graph), encoding="utf-8")
        (out / f"{name}.case").write_bytes(case(path))


main()
