"""References written with MindSpore, run by an interpreter that has it."""

import unittest

from kerf.testing import TaskTest, mindspore_python, needs

PYTHON = mindspore_python()
CELL = """
class Model(nn.Cell):
    def __init__(self):
        super().__init__()
        {}
    def construct(self, x):
        {}
"""


@needs("numpy")
@unittest.skipIf(PYTHON is None, "no MindSpore: neither here, nor in KERF_MINDSPORE_PYTHON, nor in .venv-mindspore")
class MindsporeReferences(TaskTest):
    python = PYTHON

    def case(self, init, body, inputs="", **request):
        text = CELL.format(init, body) + (f"\ndef get_inputs():\n    return [{inputs}]\n" if inputs else "")
        self.kept = self.manifest(text, "mindspore", **request)
        return self.kept["cases"][0]

    def assert_oracle(self, case):
        """Each float32 output lies near its float64 answer, which is no float32 itself."""
        for entry, exact in zip(case["outputs"], case["oracle"]):
            self.assertIsNotNone(exact, case["oracle_note"])
            got, exact = self.tensor(case, entry), self.tensor(case, exact)
            self.assertLess(abs(got - exact).max(), 2e-6 * max(1.0, abs(exact).max()))
            self.assertTrue((exact.astype("float32") != exact).any())

    def test_parameters_and_checks(self):
        case = self.case("self.fc, self.k = nn.Dense(8, 3), ms.Tensor(np.random.randn(3).astype(np.float32))",
                         "return self.fc(x) * self.k", check=True, baselines=["eager"], threads=2)
        self.assertEqual([entry["name"] for entry in case["parameters"]], ["fc.weight", "fc.bias", "k"])
        self.assert_oracle(case)
        self.assertEqual((case["lower_precision"], self.kept["checks"]["deterministic"]), ("float16", True))
        self.assertTrue(all(entry["changes_output"] for entry in self.kept["checks"]["influence"]))
        self.assertGreaterEqual(len(self.kept["baselines"][0]["samples_ns"]), 5)

    def test_layers_without_tensors_of_their_own(self):
        case = self.case("self.table = nn.Embedding(10, 4)", "return self.table((x * x).astype(ms.int32) % 10)", lower=False)
        self.assertEqual([entry["name"] for entry in case["parameters"]], ["table.embedding_table"])

    def test_float64_where_mindspore_has_none(self):
        layers = ("nn.Conv2d(2, 3, 3, has_bias=True)", "nn.Conv2d(2, 4, 2, group=2, dilation=2)",
                  "nn.Conv2d(2, 3, 3, stride=2, pad_mode='pad', padding=1)", "nn.Conv2dTranspose(2, 4, 3, stride=2, group=2)",
                  "nn.Conv2dTranspose(2, 3, 3, stride=2, pad_mode='pad', padding=1)", "nn.BatchNorm2d(2)",
                  "nn.Conv2dTranspose(2, 3, 2, stride=3, pad_mode='valid')")
        self.assert_oracle(self.case(f"self.layers = nn.CellList([{', '.join(layers)}])",
                                     "return [layer(x.reshape(1, 2, 4, 4)) for layer in self.layers]", lower=False))
        self.assert_oracle(self.case("self.conv = nn.Conv3d(1, 2, 3)",
                                     "return self.conv(ops.tile(x, (2, 2)).reshape(1, 1, 4, 4, 8)), ops.norm(x, ord=1, dim=1)",
                                     lower=False))

    def test_types_asked_for_by_name(self):
        self.assert_oracle(self.case("pass", "return ops.softmax(x.astype(ms.float32)) * ms.Tensor(0.1, ms.float32)", lower=False))

    def test_bfloat16(self):
        inputs = "ms.Tensor(np.linspace(-2, 2, 32).reshape(4, 8).astype(np.float32)).astype(ms.bfloat16)"
        case = self.case("pass", "return x * 3", inputs)
        self.assertEqual([entry["dtype"] for entry in case["inputs"] + case["outputs"]], ["bfloat16", "bfloat16"])
        exact = self.tensor(case, case["oracle"][0])
        self.assertAlmostEqual(exact.flat[0], -6.0)
        self.assertAlmostEqual(exact.flat[31], 6.0)

    def test_tells_the_line_of_an_error_that_comes_later(self):
        text = CELL.format("pass", "y = x @ x\n        return y * 2")
        code, error = self.run_task(text, "mindspore")
        lines = ("import mindspore as ms\nimport numpy as np\nfrom mindspore import mint, nn, ops\n" + text).splitlines()
        self.assertEqual((code, error["stage"], lines[error["line"] - 1].strip()), (1, "run", "y = x @ x"))
        self.assertNotIn("Call Stack", error["message"])

    def test_an_error_of_one_run_does_not_spoil_the_next(self):
        case = self.case("pass", "return ops.relu6(x) * 2")  # no float64 for it
        self.assertIn("ReLU6", case["oracle_note"])
        self.assertEqual(case["lower_precision"], "float16")


if __name__ == "__main__":
    unittest.main()
