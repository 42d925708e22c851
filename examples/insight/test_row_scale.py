"""A scene test as the runtime has them: one vector kernel that scales the rows of a matrix, and one case.

kerf reads it without importing it:  kerf insight examples/insight/test_row_scale.py --case small --kernel row_scale --dry-run
"""

import ctypes

import torch
from simpler.task_interface import ArgDirection as D
from simpler_setup import Scalar, SceneTestCase, TaskArgsBuilder, TensorArg, scene_test


@scene_test(level=2, runtime="tensormap_and_ringbuffer")
class TestRowScale(SceneTestCase):
    CALLABLE = {
        "orchestration": {
            "source": "kernels/orchestration/row_scale_orch.cpp",
            "function_name": "entry",
            "signature": [D.IN, D.IN, D.OUT],
        },
        "incores": [
            {"func_id": 4, "name": "row_scale", "source": "kernels/aiv/row_scale.cpp", "core_type": "aiv",
             "signature": [D.IN, D.IN, D.OUT]},
        ],
    }
    CASES = [{"name": "small", "platforms": ["a2a3sim", "a2a3"], "params": {"rows": 8, "columns": 64}}]

    def generate_args(self, params):
        rows, columns = params["rows"], params["columns"]
        return TaskArgsBuilder(
            TensorArg("x", torch.full((rows, columns), 2.0)),
            TensorArg("scale", torch.ones(rows)),
            TensorArg("y", torch.zeros(rows, columns)),
            Scalar("epsilon", ctypes.c_float(1e-6)),
        )
