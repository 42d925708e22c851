"""What the tests of capture share: capturing a task made of text, and computing a graph with torch."""

import base64
import json
import os
import subprocess

from kerf.testing import TaskTest

RUNNER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "graph_runner.py")


class GraphTest(TaskTest):
    def capture(self, text, framework="torch"):
        """The documents of a task, in a process of its own."""
        request = {"task": self.task(text, framework), "framework": framework, "out": self.out}
        done = subprocess.run([self.python, RUNNER, "-"], input=json.dumps(request), text=True, cwd=self.folder,
                              capture_output=True, timeout=120, check=False)
        documents = []
        while os.path.exists(path := os.path.join(self.out, f"graph-{len(documents)}.json")):
            with open(path, encoding="utf-8") as file:
                documents.append(json.load(file))
        if done.returncode or not documents:
            self.fail(f"no graph: {self.error()} {done.stderr}")
        return documents

    def error(self):
        path = os.path.join(self.out, "error.json")
        if not os.path.exists(path):
            return ""
        with open(path, encoding="utf-8") as file:
            return file.read()

    def graph(self, text, framework="torch"):
        document = self.capture(text, framework)[0]
        self.assertNotIn("refused", document)
        return document

    def refusal(self, text, framework="torch"):
        document = self.capture(text, framework)[0]
        self.assertIn("refused", document)
        return document["refused"]


    def expected(self, document):
        """[(expected, computed)] as torch tensors, on a draw the capture has not seen, made by the task's interpreter."""
        import torch
        framework = document["framework"]
        with open(os.path.join(self.folder, f"op_{framework}.py"), encoding="utf-8") as file:
            text = file.read()
        manifest = self.manifest(text, framework, seeds=[5], oracle=False, lower=False)
        case = manifest["cases"][0]
        inputs, params, outputs = [[self.tensor(case, entry, "torch") if "offset" in entry else None
                                    for entry in case[name]] for name in ("inputs", "parameters", "outputs")]
        with torch.no_grad():
            return list(zip(outputs, compute(document, inputs, params)))


def ops(document):
    return [node["op"].split(".", 1)[1] for node in document["nodes"]]


def compute(document, inputs, params):
    """The outputs of a graph, computed node by node with torch. `inputs` and `params` are lists of tensors."""
    import torch
    from kerf.framework_torch import SUPPORTED
    values = {}
    for entry in document["inputs"]:
        spec = document["values"][entry["value"]]
        if entry["source"] == "constant":
            data = bytearray(base64.b64decode(entry["data"]))
            tensor = torch.frombuffer(data, dtype=SUPPORTED[spec["dtype"]]).reshape(spec["shape"])
        else:
            tensor = {"inputs": inputs, "params": params}[entry["source"]][entry["index"]]
        values[entry["value"]] = tensor

    def argument(given):
        if isinstance(given, list):
            return [argument(item) for item in given]
        if not isinstance(given, dict):
            return given
        if "value" in given:
            return values[given["value"]]
        return SUPPORTED[given["dtype"]] if "dtype" in given else float(given["float"])

    for node in document["nodes"]:
        _, name, overload = node["op"].split(".")
        operation = getattr(getattr(torch.ops.aten, name), overload)
        args = {key: argument(given) for key, given in node["args"].items()}
        if name == "view":
            args["self"] = args["self"].contiguous()
        result = operation(**args)
        results = [result] if isinstance(result, torch.Tensor) else result
        for number, tensor in zip(node["outputs"], results):
            if number is None:
                continue
            spec = document["values"][number]
            if list(tensor.shape) != spec["shape"] or tensor.dtype != SUPPORTED[spec["dtype"]]:
                raise AssertionError(f"{node['op']} gave {tensor.dtype}{list(tensor.shape)}, the graph says {spec}")
            values[number] = tensor
    return [values[number] for number in document["outputs"]]


def compute_task(document, path, framework_name, seed=5):
    """[(expected, computed)] as torch tensors, on a draw the capture has not seen."""
    import torch
    from kerf import frameworks, values
    from kerf.task_module import Task
    framework, task = frameworks.get(framework_name), Task(path)
    model, _ = task.model(framework, seed)
    call = task.draw(framework, seed)[0]

    def tensor(value):
        if framework_name == "torch" or not framework.is_tensor(value):
            return value.detach().clone() if framework.is_tensor(value) else torch.as_tensor(value)
        return torch.from_numpy(value.copy()) if getattr(value, "ndim", 0) else torch.as_tensor(value.item()).to(
            getattr(torch, framework.dtype(value)))

    plain = (int, float, bool)
    inputs = [tensor(value) if framework.is_tensor(value) or isinstance(value, plain) else None
              for _, value in call.leaves(framework)]
    inputs = [value.double() if isinstance(leaf, float) else value
              for value, (_, leaf) in zip(inputs, call.leaves(framework))]
    params = [tensor(value) for _, value in framework.tensors_of(model)]
    found, _ = values.outputs_of(framework, task.run(framework, model, call))
    with torch.no_grad():
        got = compute(document, inputs, params)
    return list(zip([tensor(value) for _, value in found], got))
