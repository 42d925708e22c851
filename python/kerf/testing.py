"""What the tests share: frameworks that are here, task files made of text, and reading what was written."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

from kerf import frameworks
from kerf.raw_file import RawReader
from kerf.reference_case import stored_length

HEAD = {"numpy": "import numpy as np\n", "torch": "import torch\nimport torch.nn as nn\n",
        "mindspore": "import mindspore as ms\nimport numpy as np\nfrom mindspore import mint, nn, ops\n"}
INPUT = {"numpy": "np.random.randn(4, 8).astype(np.float32)", "torch": "torch.randn(4, 8)",
         "mindspore": "ms.Tensor(np.random.randn(4, 8).astype(np.float32))"}
RUNNER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "reference_runner.py")


def mindspore_python():
    """An interpreter that has MindSpore, which wants another numpy than torch; None where there is none."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    if importlib.util.find_spec("mindspore") is not None:
        return sys.executable
    for path in (os.environ.get("KERF_MINDSPORE_PYTHON"), os.path.join(root, ".venv-mindspore/bin/python")):
        if path and os.access(path, os.X_OK):
            return path
    return None


def needs(name):
    """Skips a test, with the reason, where the interpreter lacks the package."""
    missing = importlib.util.find_spec(name) is None
    return unittest.skipIf(missing, f"{sys.executable} has no {name}")


class TaskTest(unittest.TestCase):
    """A folder of its own for each test."""

    python = sys.executable  # that runs the tasks

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="kerf-python-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.out = os.path.join(self.folder, "out")

    def task(self, text, framework="numpy"):
        """Writes a task. `text` defines Model and what it needs; functions it lacks are added."""
        text = textwrap.dedent(text)
        if "def get_inputs" not in text:
            text += f"\ndef get_inputs():\n    return [{INPUT[framework]}]\n"
        if "def get_init_inputs" not in text:
            text += "\ndef get_init_inputs():\n    return []\n"
        path = os.path.join(self.folder, f"op_{framework}.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(HEAD[framework] + text)
        return path

    def run_task(self, text, framework="numpy", **request):
        """(exit code, manifest or error) of the runner in a process of its own."""
        shutil.rmtree(self.out, ignore_errors=True)
        request.update(task=self.task(text, framework), framework=framework, out=self.out)
        done = subprocess.run([self.python, RUNNER, "-"], input=json.dumps(request), text=True, cwd=self.folder,
                              capture_output=True, timeout=120, check=False)
        for name in ("manifest.json", "error.json"):
            path = os.path.join(self.out, name)
            if os.path.exists(path):
                with open(path, encoding="utf-8") as file:
                    return done.returncode, json.load(file)
        self.fail(f"neither manifest nor error: {done.stderr}")

    def manifest(self, text, framework="numpy", **request):
        code, document = self.run_task(text, framework, **request)
        self.assertEqual(code, 0, document)
        return document

    def tensor(self, case, entry, framework="numpy"):
        """The tensor an entry of the manifest describes."""
        file = "input_file" if "kind" in entry else "output_file"
        reader = RawReader(os.path.join(self.out, case[file]))
        view = reader.view(entry["offset"], stored_length(entry))
        return frameworks.get(framework).from_buffer(entry["dtype"], entry["shape"], view)
