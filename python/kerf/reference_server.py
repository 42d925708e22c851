"""A resident process that runs one task's reference again and again on inputs it is given, and times it.

For the performance stage: the judge alternates between this process and a candidate's, on the same inputs.

    python3 reference_server.py --fd 3        one socket, both ways; input descriptors may come with a line
    python3 reference_server.py               standard input and output

Each line is a JSON object, and so is each answer: {"ok": true, …} or {"ok": false, "stage", "message", "line"}.

    {"op": "load", "task": PATH, "framework": "torch", "seed": 0, "variant": 0, "threads": 2, "mode": "eager"}
        Loads the task and makes the model. mode is eager or compiled. Answers {"framework_version", "inputs"}.
    {"op": "run", "case": {"inputs": […], "parameters": […]}, "input_file": PATH, "output_file": PATH}
        Runs once on the tensors of a case of the manifest (docs/formats/reference.md), which lie in input_file.
        "input_fd": N instead of input_file is an inherited descriptor, -1 one that came with this line. Tensors get
        new memory for each run. parameters may be left out: the model keeps those it has. output_file may be left out;
        with it the outputs are written there, and the answer has "outputs". Answers {"ns"}: the call alone.
    {"op": "exit"}
"""

import argparse
import json
import os
import socket
import sys
import time

sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

from kerf import frameworks, values  # noqa: E402
from kerf.raw_file import RawReader, RawWriter  # noqa: E402
from kerf.reference_case import stored_length  # noqa: E402
from kerf.task_module import Task, TaskError, stage  # noqa: E402


class Server:
    def __init__(self):
        self.framework = self.task = self.model = self.callee = self.template = None

    def answer(self, request, descriptors):
        try:
            with stage("run"):
                operation = {"load": self._load, "run": self._run}[request["op"]]
                return dict({"ok": True}, **operation(request, descriptors))
        except TaskError as error:
            return {"ok": False, "stage": error.stage, "message": error.message, "line": error.line}

    def _load(self, request, _):
        with stage("import"):
            self.framework = frameworks.get(request["framework"])
        if request.get("threads"):
            self.framework.set_threads(int(request["threads"]))
        self.task = Task(request["task"])
        seed = int(request.get("seed", 0))
        self.model, _ = self.task.model(self.framework, seed)
        # Shows how the tensors of a case are put together to arguments.
        self.template = self.task.draw(self.framework, seed)[int(request.get("variant", 0))]
        compiled = request.get("mode", "eager") == "compiled"
        self.callee = self.framework.compiled(self.model) if compiled else self.model
        return {"framework_version": self.framework.version,
                "inputs": [name for name, _ in self.template.leaves(self.framework)]}

    def _run(self, request, descriptors):
        if self.model is None:
            raise TaskError("load", "no task is loaded")
        call = self._inputs(request, descriptors)
        begin = time.perf_counter_ns()
        result = self.framework.call(self.callee, call)
        answer = {"ns": time.perf_counter_ns() - begin}
        if request.get("output_file"):
            answer["outputs"] = self._write(request["output_file"], result)
        return answer

    def _inputs(self, request, descriptors):
        entries = request["case"]["inputs"]
        names = [name for name, _ in self.template.leaves(self.framework)]
        if names != [entry["name"] for entry in entries]:
            raise TaskError("inputs", f"the task takes {names}, not {[entry['name'] for entry in entries]}")
        source = request.get("input_file")
        if source is None:
            source = descriptors.pop(0) if int(request["input_fd"]) < 0 else int(request["input_fd"])
        reader = RawReader(source)

        def load(entry):
            view = reader.view(entry["offset"], stored_length(entry))
            return self.framework.from_buffer(entry["dtype"], entry["shape"], view)

        for entry in request["case"].get("parameters") or []:
            self.framework.set_tensor(self.model, entry["name"], load(entry))
        shown = [value for _, value in self.template.leaves(self.framework)]
        return self.template.with_leaves(self.framework, [
            load(entry) if entry["kind"] == "tensor" else values.restore(entry, value)
            for entry, value in zip(entries, shown)])

    def _write(self, path, result):
        found, _ = values.outputs_of(self.framework, result)
        writer = RawWriter(path)
        entries = [{"name": name, "dtype": self.framework.dtype(tensor), "shape": self.framework.shape(tensor),
                    "offset": writer.add(self.framework.buffer(tensor))} for name, tensor in found]
        writer.close()
        return entries


class SocketLines:
    """Lines over a socket, and the descriptors that came with them."""

    def __init__(self, fd):
        self._socket = socket.socket(fileno=fd)
        self._text = b""
        self.descriptors = []

    def __iter__(self):
        while True:
            line, found, rest = self._text.partition(b"\n")
            if found:
                self._text = rest
                yield line
                for descriptor in self.descriptors:
                    os.close(descriptor)
                self.descriptors = []
                continue
            data, descriptors, _, _ = socket.recv_fds(self._socket, 1 << 16, 16)
            self.descriptors += descriptors
            if not data:
                return
            self._text += data

    def send(self, document):
        self._socket.sendall(json.dumps(document).encode() + b"\n")


class StandardLines:
    """The same over standard input and output, without descriptors. What the task prints goes nowhere."""

    descriptors = []

    def __init__(self):
        self._out = os.fdopen(os.dup(1), "wb", buffering=0)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.close(null)

    def __iter__(self):
        return iter(sys.stdin.buffer.readline, b"")

    def send(self, document):
        self._out.write(json.dumps(document).encode() + b"\n")


def serve(lines):
    server = Server()
    for line in lines:
        if not line.strip():
            continue
        try:
            request = json.loads(line)
        except ValueError as error:
            lines.send({"ok": False, "stage": "request", "message": str(error), "line": None})
            continue
        if not isinstance(request, dict) or request.get("op") not in ("load", "run", "exit"):
            lines.send({"ok": False, "stage": "request", "message": "op is load, run or exit", "line": None})
            continue
        if request["op"] == "exit":
            return
        lines.send(server.answer(request, lines.descriptors))


def main(argv):
    parser = argparse.ArgumentParser(description="runs a task's reference on given inputs; see the file's head")
    parser.add_argument("--fd", type=int, help="an inherited socket; standard input and output otherwise")
    fd = parser.parse_args(argv[1:]).fd
    serve(StandardLines() if fd is None else SocketLines(fd))
    return 0


if __name__ == "__main__":
    code = main(sys.argv)
    sys.stderr.flush()
    os._exit(code)
