"""One kernel that takes exactly the orchestration's tensors."""

import ctypes

import torch
from simpler.task_interface import ArgDirection as D
from simpler_setup import Scalar, SceneTestCase, TaskArgsBuilder, TensorArg, scene_test

SIZE = 64 * 64


@scene_test(level=2, runtime="tensormap_and_ringbuffer")
class TestVector(SceneTestCase):
    CALLABLE = {
        "orchestration": {"source": "kernels/orchestration/none.cpp", "signature": [D.IN, D.IN, D.OUT]},
        "incores": [
            {"func_id": 0, "source": "kernels/aiv/add.cpp", "core_type": "aiv", "signature": [D.IN, D.IN, D.OUT]},
            {"func_id": 1, "source": "kernels/aiv/double.cpp", "core_type": "aiv", "signature": [D.IN, D.OUT]},
        ],
    }
    CASES = [{"name": "default", "platforms": ["a2a3sim", "a2a3"], "params": {"n": SIZE}}]

    def generate_args(self, params):
        n = params["n"]

        def zeros():
            return torch.zeros(n, dtype=torch.float32)

        return TaskArgsBuilder(
            TensorArg("a", torch.full((n,), 2.0, dtype=torch.float32)),
            TensorArg("b", torch.randn(n // 64, 64).reshape(-1)),
            TensorArg("f", zeros()),
            Scalar("alpha", ctypes.c_float(0.5)),
        )
