"""How many bytes a task's tensors have and how much its products calculate, without calculating them.

torch: the task runs on the meta device, where tensors have shapes and no memory. numpy has no such device: its task is
run with every size small, and with each size doubled; how the bytes grow tells what the real sizes would give.
"""

import math
import os
import tempfile

from kerf import frameworks, task_sizes, values
from kerf.task_module import Task


def get(name):
    if name == "torch":
        return TorchMeasure()
    if name == "numpy":
        return NumpyMeasure()
    raise ImportError(f"kerf cannot measure tasks of {name}")


class Measure:
    name = ""

    def __init__(self):
        self.framework = frameworks.get(self.name)

    def task(self, text):
        with tempfile.TemporaryDirectory(prefix="kerf-sizes-") as folder:
            path = os.path.join(folder, "task.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            return Task(path)

    def bytes_of(self, tensors):
        return sum(self.size(tensor) for tensor in tensors)

    def size(self, tensor):
        raise NotImplementedError

    def run(self, text):
        """(bytes, peak of one tensor) after running everything."""
        task = self.task(text)
        model, _ = task.model(self.framework, 0)
        calls = task.draw(self.framework, 0)
        most = 0
        for call in calls:
            leaves = [value for _, value in call.leaves(self.framework) if self.framework.is_tensor(value)]
            found, _ = values.outputs_of(self.framework, task.run(self.framework, model, call))
            tensors = leaves + [tensor for _, tensor in self.framework.tensors_of(model)] + [one for _, one in found]
            most = max(most, self.bytes_of(tensors))
        return most

    def verify(self, text):
        """Runs the task as it is; TaskError when it does not work."""
        self.run(text)


class TorchMeasure(Measure):
    name = "torch"

    def __init__(self):
        super().__init__()
        import torch
        self.torch = torch

    def size(self, tensor):
        return tensor.numel() * tensor.element_size()

    def __call__(self, text):
        from kerf.task_work import WorkMode
        counter = WorkMode()
        with self.torch.device("meta"), counter:
            total = self.run(text)
        return max(total, counter.largest), counter.work


class NumpyMeasure(Measure):
    name = "numpy"
    SMALL = 16

    def __init__(self):
        super().__init__()
        self.growth = {}

    def size(self, tensor):
        return tensor.nbytes

    def __call__(self, text):
        sizes = task_sizes.find_sizes(text)
        if not sizes:
            return self.run(text), 0.0
        smaller = task_sizes.find_sizes(text)
        for size in smaller:
            size.value = min(size.value, self.SMALL | (size.value & 1))
        base = self.run(task_sizes.edit(text, smaller))
        total = base
        for index, size in enumerate(sizes):
            exponent = self._exponent(text, smaller, index, base)
            total *= (size.value / smaller[index].value) ** exponent
        return int(total), 0.0

    def _exponent(self, text, smaller, index, base):
        """1 when the bytes double with the size. Bytes that do not depend on it make it less, never more."""
        size = smaller[index]
        value = size.value
        if value == size.original:
            return 0.0
        size.value = value * 2
        try:
            return max(0.0, math.log2(self.run(task_sizes.edit(text, smaller)) / base))
        finally:
            size.value = value
