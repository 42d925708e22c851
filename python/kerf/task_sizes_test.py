"""Making tasks smaller through their own sizes."""

import json
import os
import subprocess
import sys
import unittest

from kerf import task_sizes
from kerf.testing import TaskTest, needs

RUNNER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "task_sizes.py")


def product(*names):
    """Measures a text by the product of some of its sizes, in floats; `square` names must stay equal."""
    def measure(text):
        values = {}
        exec(text, values)
        total = 4
        for name in names:
            total *= values[name]
        return total, 0.0
    return measure


class Edits(unittest.TestCase):
    def test_finds_sizes_in_all_spellings(self):
        text = "batch = 64\nN = 2048 * 2\nshape = (32, 512)\na, b = 100, 200\nkernel_size = 11\ndim = 1\nx = 2.5\nM = N // 2\n"
        found = [(size.name, size.value) for size in task_sizes.find_sizes(text)]
        self.assertEqual(found, [("batch", 64), ("N", 4096), ("shape", 32), ("shape", 512), ("a", 100), ("b", 200)])

    def test_changes_nothing_but_the_numbers(self):
        text = "# é\nbatch = 64  # rows\nN = 2048 * 2\nname = 'batch = 64'\n"
        new, report = task_sizes.shrink(text, product("batch", "N"), 4 * 32 * 4096, 1)
        self.assertEqual(new, text.replace("batch = 64  #", "batch = 32  #"))
        self.assertEqual(report["changed"], [{"name": "batch", "line": 2, "from": 64, "to": 32}])

    def test_a_task_that_fits_stays(self):
        text = "N = 16\n"
        new, report = task_sizes.shrink(text, product("N"), 1000, 1)
        self.assertEqual((new, report["changed"]), (text, []))

    def test_the_batch_goes_first_and_squares_stay_square(self):
        text = "batch_size = 64\nheight = 512\nwidth = 512\n"
        new, _ = task_sizes.shrink(text, product("batch_size", "height", "width"), 4 * 16 * 256 * 256, 1)
        self.assertEqual(new, "batch_size = 16\nheight = 256\nwidth = 256\n")

    def test_odd_stays_odd(self):
        new, _ = task_sizes.shrink("N = 4095\n", product("N"), 4 * 2000, 1)
        self.assertEqual(new, "N = 1023\n")

    def test_a_size_the_model_needs_is_halved_with_its_like(self):
        def measure(text):
            total, work = product("a", "b")(text)
            values = {}
            exec(text, values)
            if values["a"] != values["b"]:
                raise ValueError("a and b must be equal")
            return total, work
        new, _ = task_sizes.shrink("a = 4096\nb = 4096\n", measure, 4 * 1024 * 1024, 1)
        self.assertEqual(new, "a = 1024\nb = 1024\n")

    def test_work_counts_too(self):
        def measure(text):
            total, _ = product("N", "N")(text)
            return total, float(total) ** 1.5
        _, report = task_sizes.shrink("N = 1024\n", measure, 1 << 40, (4 * 512 * 512) ** 1.5)
        self.assertEqual(report["changed"][0]["to"], 512)

    def test_says_when_nothing_helps(self):
        with self.assertRaises(task_sizes.TooLarge):
            task_sizes.shrink("kernel_size = 4096\n", product("kernel_size"), 10, 1)


class Tasks(TaskTest):
    def shrink(self, text, framework, **limits):
        request = {"task": self.task(text, framework), "framework": framework, "out": self.out, "max_work": 1e12, **limits}
        subprocess.run([sys.executable, RUNNER, "-"], input=json.dumps(request), text=True, timeout=120, check=False,
                       capture_output=True)
        with open(os.path.join(self.out, "sizes.json"), encoding="utf-8") as file:
            return json.load(file)

    @needs("torch")
    def test_torch_tasks_are_measured_without_their_memory(self):
        report = self.shrink("""
            batch_size = 1 << 20
            features = 4096
            class Model(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.fc = nn.Linear(features, features)
                def forward(self, x):
                    return self.fc(x)
            def get_inputs():
                return [torch.rand(batch_size, features)]
            """, "torch", max_bytes=96 << 20, max_work=1e9)
        self.assertEqual(report["bytes_before"], 2 * (1 << 34) + 4 * (4096 * 4096 + 4096))
        self.assertEqual([change["name"] for change in report["changed"]], ["batch_size"])
        self.assertLessEqual(report["bytes"], 96 << 20)
        self.assertLessEqual(report["work"], 1e9)

    @needs("numpy")
    def test_numpy_tasks_are_measured_by_growth(self):
        report = self.shrink("""
            batch = 1 << 16
            width = 1 << 14
            class Model:
                def forward(self, x):
                    return np.maximum(x, 0)
            def get_inputs():
                return [np.random.rand(batch, width).astype(np.float32)]
            """, "numpy", max_bytes=8 << 20)
        self.assertNotIn("error", report)
        self.assertEqual(report["bytes_before"], 8 << 30)
        self.assertEqual([(change["name"], change["to"]) for change in report["changed"]], [("batch", 64)])


if __name__ == "__main__":
    unittest.main()
