"""The whole runner, outside the sandbox, on tasks written here."""

import unittest

from kerf.testing import TaskTest, needs


@needs("numpy")
class NumpyRunnerTest(TaskTest):
    def test_draws_weights_and_inputs_new_for_each_seed(self):
        document = self.manifest("""
            class Model:
                def __init__(self):
                    self.w = np.random.rand(8).astype(np.float32)
                def __call__(self, x):
                    return x * self.w
            """, seeds=[0, 1])
        first, second = document["cases"]
        for key in ("inputs", "parameters"):
            a, b = (self.tensor(case, case[key][0]) for case in (first, second))
            self.assertFalse((a == b).any())

    def test_is_exact_where_the_model_names_its_precision(self):
        import numpy
        document = self.manifest("""
            class Model:
                def __init__(self):
                    self.dtype = np.float32
                def __call__(self, x):
                    total = np.zeros(x.shape[:1], dtype=np.float32)
                    for i in range(x.shape[1]):
                        total += np.exp(x[:, i]).astype(self.dtype)
                    return total
            """)
        case = document["cases"][0]
        self.assertEqual(case["oracle_note"], "")
        x = self.tensor(case, case["inputs"][0]).astype("float64")
        oracle = self.tensor(case, case["oracle"][0])
        self.assertLess(numpy.abs(oracle - numpy.exp(x).sum(axis=1)).max(), 1e-13)

    def test_says_when_there_is_no_oracle(self):
        document = self.manifest("""
            class Model:
                def __call__(self, x):
                    return x.astype("float32")
            """)
        case = document["cases"][0]
        self.assertEqual(case["oracle"], [None])
        self.assertIn("fixes its precision", case["oracle_note"])

    def test_keeps_complex_and_transposed_outputs(self):
        import numpy
        document = self.manifest("""
            class Model:
                def __call__(self, x):
                    return (x + 1j * x.astype(np.complex64)).T, x[::2, ::-1], x.sum()
            """)
        case = document["cases"][0]
        x = self.tensor(case, case["inputs"][0])
        self.assertEqual([entry["dtype"] for entry in case["outputs"]], ["complex64", "float32", "float32"])
        self.assertTrue(numpy.array_equal(self.tensor(case, case["outputs"][1]), x[::2, ::-1]))
        self.assertEqual(case["outputs"][2]["shape"], [])
        self.assertEqual(case["oracle"][0]["dtype"], "complex128")

    def test_stores_inputs_as_they_were(self):
        import numpy
        document = self.manifest("""
            class Model:
                def __call__(self, x):
                    x *= 0
                    return x + 1
            """, check=True)
        case = document["cases"][0]
        self.assertTrue(self.tensor(case, case["inputs"][0]).any())
        self.assertIn("the reference changes input0 in place", document["notes"])
        self.assertTrue(numpy.array_equal(self.tensor(case, case["outputs"][0]), numpy.ones((4, 8), "float32")))

    def test_aligns_tensors_and_keeps_empty_ones(self):
        document = self.manifest("""
            class Model:
                def __call__(self, x, y, z):
                    return x.sum(), z
            def get_inputs():
                return [np.ones(3, np.int8), np.zeros((0, 4), np.float32), np.ones(5, bool)]
            """)
        case = document["cases"][0]
        self.assertEqual([entry["offset"] for entry in case["inputs"]], [0, 64, 64])
        self.assertEqual(self.tensor(case, case["inputs"][1]).shape, (0, 4))

    def test_names_the_stage_and_the_line(self):
        code, error = self.run_task("""
            class Model:
                def __init__(self, n):
                    assert n > 3, "too small"
                def __call__(self, x):
                    return x
            def get_init_inputs():
                return [2]
            """)
        self.assertEqual(code, 1)
        self.assertEqual((error["stage"], error["line"]), ("init", 5))
        self.assertIn("too small", error["message"])

    def test_refuses_a_task_without_its_parts(self):
        _, error = self.run_task("Model = 3")
        self.assertEqual(error["message"], "Missing required components in task_desc: class Model")

    def test_is_not_ended_by_an_exit_handler(self):
        document = self.manifest("""
            import atexit, os
            atexit.register(lambda: os._exit(5))
            class Model:
                def __call__(self, x):
                    return x * 2
            """)
        self.assertEqual(len(document["cases"]), 1)

    def test_finds_what_is_not_deterministic(self):
        stateful = self.manifest("""
            class Model:
                count = 0
                def __call__(self, x):
                    self.count += 1
                    return x + self.count
            """, check=True)
        self.assertFalse(stateful["checks"]["deterministic"])
        entropy = self.manifest("""
            class Model:
                def __call__(self, x):
                    return x
            def get_inputs():
                return [np.random.default_rng().random(4)]
            """, check=True)
        self.assertIn("input0 differs when it is drawn again", entropy["checks"]["note"])

    def test_tells_what_matters(self):
        document = self.manifest("""
            class Model:
                def __init__(self):
                    self.one = np.ones(8, np.float32)
                    self.idle = np.ones(8, np.float32)
                def __call__(self, x, y, k):
                    return x * self.one + k
            def get_inputs():
                return [np.random.rand(4, 8).astype("float32"), np.random.rand(3), 2]
            """, check=True)
        influence = {item["name"]: item["changes_output"] for item in document["checks"]["influence"]}
        self.assertEqual(influence, {"input0": True, "input1": False, "one": True, "idle": False})

    def test_says_why_there_is_no_hidden_shape(self):
        document = self.manifest("""
            class Model:
                def __call__(self, x):
                    assert x.shape[0] in (4, 64), "only these"
                    return x
            def get_inputs_dyn_list():
                return [[np.random.rand(n, 2)] for n in (4, 64)]
            """, hidden=1)
        self.assertEqual(len(document["cases"]), 2)
        self.assertIn("only these", document["hidden_note"])
        self.assertFalse([case for case in document["cases"] if case["hidden"]])


@needs("torch")
class TorchRunnerTest(TaskTest):
    def manifest(self, text, **request):
        return super().manifest(text, "torch", **request)

    def tensor(self, case, entry):
        return super().tensor(case, entry, "torch")

    def test_sorts_equal_elements_in_their_order_in_the_oracle(self):
        import torch
        document = self.manifest("""
            class Model(nn.Module):
                def forward(self, x):
                    few = (x * 2).round()
                    return (torch.sort(few, 0, descending=True)[1], torch.argsort(few), torch.topk(few, 40)[0],
                            *torch.topk(few, 40, 0, largest=False), torch.topk(x.sum(), 1)[1])
            def get_inputs():
                return [torch.randn(70, 90)]
            """)
        case = document["cases"][0]
        few = (self.tensor(case, case["inputs"][0]) * 2).round()
        found = [self.tensor(case, entry) for entry in case["oracle"]]
        smallest, places = torch.sort(few, dim=0, stable=True)
        self.assertTrue(torch.equal(found[0], torch.sort(few, dim=0, descending=True, stable=True)[1]))
        self.assertTrue(torch.equal(found[1], torch.sort(few, stable=True)[1]))
        self.assertTrue(torch.equal(found[2], torch.topk(few, 40)[0].double()))
        self.assertTrue(torch.equal(found[3], smallest[:40].double()))
        self.assertTrue(torch.equal(found[4], places[:40]))
        self.assertEqual(found[5].item(), 0)

    def test_computes_the_oracle_in_float64_throughout(self):
        import torch
        document = self.manifest("""
            class Model(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.scale = torch.tensor([0.1])       # no parameter, no buffer
                def forward(self, x):
                    third = torch.full((1,), 1.0) / 3      # made with the default dtype
                    return (x.half().float() * third + torch.zeros(1, dtype=torch.float32)) * self.scale
            """)
        case = document["cases"][0]
        self.assertEqual(case["oracle_note"], "")
        x = self.tensor(case, case["inputs"][0]).double()
        # 0.1 was rounded to float32 when the model was made; that is the model.
        exact = x / 3 * torch.tensor(0.1, dtype=torch.float32).double()
        self.assertLess((self.tensor(case, case["oracle"][0]) - exact).abs().max().item(), 1e-15)

    def test_keeps_bits_of_small_floats(self):
        import torch
        document = self.manifest("""
            class Model(nn.Module):
                def forward(self, x):
                    return x.bfloat16(), x.to(torch.float8_e4m3fn), x.half(), x > 0
            """)
        case = document["cases"][0]
        x = self.tensor(case, case["inputs"][0])
        self.assertTrue(torch.equal(self.tensor(case, case["outputs"][0]), x.bfloat16()))
        self.assertTrue(torch.equal(self.tensor(case, case["outputs"][1]).view(torch.uint8),
                                    x.to(torch.float8_e4m3fn).view(torch.uint8)))
        self.assertEqual(case["outputs"][3]["dtype"], "bool")
        self.assertEqual([entry["dtype"] for entry in case["oracle"]], ["float64"] * 3 + ["bool"])

    def test_evaluates_without_gradients(self):
        document = self.manifest("""
            class Model(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.drop = nn.Dropout(0.5)
                    self.norm = nn.BatchNorm1d(8)
                def forward(self, x):
                    assert not torch.is_grad_enabled() and not self.training
                    return self.drop(self.norm(x))
            """, check=True)
        self.assertTrue(document["checks"]["deterministic"], document["checks"]["note"])
        names = [entry["name"] for entry in document["cases"][0]["parameters"]]
        self.assertEqual(names, ["norm.weight", "norm.bias", "norm.running_mean", "norm.running_var",
                                 "norm.num_batches_tracked"])
        self.assertTrue(all(item["changes_output"] for item in document["checks"]["influence"]))

    def test_counts_the_weights_of_a_recurrent_layer_once(self):
        document = self.manifest("""
            class Model(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.cell = nn.LSTM(8, 4)
                def forward(self, x):
                    return self.cell(x.unsqueeze(1))
            """, check=True)
        case = document["cases"][0]
        self.assertEqual([entry["name"] for entry in case["parameters"]],
                         ["cell.weight_ih_l0", "cell.weight_hh_l0", "cell.bias_ih_l0", "cell.bias_hh_l0"])
        self.assertEqual(case["lower_precision"], "float16")
        self.assertEqual([entry["name"] for entry in case["outputs"]], ["output0", "output1.0", "output1.1"])
        self.assertTrue(all(item["changes_output"] for item in document["checks"]["influence"]))

    def test_takes_constructor_arguments_by_name(self):
        for init in ('{"n": 8, "gain": 2.0}', '[[8], {"gain": 2.0}]', "[8, 2.0]"):
            document = self.manifest(f"""
                class Model(nn.Module):
                    def __init__(self, n, gain):
                        super().__init__()
                        self.w = nn.Parameter(torch.ones(n) * gain)
                    def forward(self, x):
                        return x * self.w
                def get_init_inputs():
                    return {init}
                """)
            self.assertEqual([entry["value"] for entry in document["init"]], [8, 2.0])

    def test_tells_how_far_outputs_move_with_their_inputs(self):
        document = self.manifest("""
            class Model(nn.Module):
                def forward(self, x):
                    return x * 3, x - x.mean(), (x > 0)
            """)
        case = document["cases"][0]
        product, difference, nothing = case["condition"]
        exact = [self.tensor(case, entry) for entry in case["oracle"]]
        moved = self.tensor(case, product).double()
        self.assertTrue(((moved - exact[0].abs()).abs() <= 1e-5 * exact[0].abs()).all())
        moved = self.tensor(case, difference).double()
        self.assertGreater((moved / exact[1].abs()).max().item(), 1.01)
        self.assertIsNone(nothing)

    def test_moves_inputs_of_one_size_each_in_its_own_way(self):
        document = self.manifest("""
            class Model(nn.Module):
                def forward(self, x, y):
                    return x[:, :1] * y[:, 1:2] - x[:, 1:2] * y[:, :1]
            def get_inputs():
                return [torch.randn(64, 2), torch.randn(64, 2)]
            """)
        case = document["cases"][0]
        exact = self.tensor(case, case["oracle"][0])
        moved = self.tensor(case, case["condition"][0]).double()
        self.assertGreater((moved / exact.abs()).max().item(), 3)  # both products moved alike: never above 2

    def test_runs_in_the_next_lower_precision(self):
        document = self.manifest("""
            class Model(nn.Module):
                def forward(self, x):
                    return x / 3
            """)
        case = document["cases"][0]
        self.assertEqual(case["lower_precision"], "float16")
        error = (self.tensor(case, case["lower"][0]).double() - self.tensor(case, case["oracle"][0])).abs().max().item()
        self.assertTrue(1e-5 < error < 1e-2, error)

    def test_counts_the_operations_of_products(self):
        document = self.manifest("""
            class Model(nn.Module):
                def forward(self, x):
                    return torch.relu(x @ x.T)
            """)
        self.assertEqual(document["cases"][0]["operations"], 2 * 4 * 8 * 4)


if __name__ == "__main__":
    unittest.main()
