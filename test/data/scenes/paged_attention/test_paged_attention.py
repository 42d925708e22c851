"""Four kernels of an attention step, one launch each. Inputs come from a function that only the runtime has."""

from simpler.task_interface import ArgDirection as D
from simpler_setup import Scalar, SceneTestCase, TaskArgsBuilder, TensorArg, scene_test
from simpler_setup.somewhere import make_inputs

SMALL = {"batch": 1, "num_heads": 16, "head_dim": 16, "block_size": 16, "context_len": 33}


@scene_test(level=2, runtime="tensormap_and_ringbuffer")
class TestAttention(SceneTestCase):
    CALLABLE = {
        "orchestration": {
            "source": "kernels/orchestration/none.cpp",
            "function_name": "entry",
            "signature": [D.IN, D.IN, D.IN, D.OUT],
        },
        "incores": [
            {"func_id": 0, "name": "QK", "source": "kernels/aic/scores.cpp", "core_type": "aic",
             "signature": [D.IN, D.IN, D.OUT]},
            {"func_id": 1, "name": "SF", "source": "kernels/aiv/softmax.cpp", "core_type": "aiv",
             "signature": [D.IN, D.OUT, D.OUT, D.OUT]},
            {"func_id": 2, "name": "PV", "source": "kernels/aic/values.cpp", "core_type": "aic",
             "signature": [D.IN, D.IN, D.OUT]},
            {"func_id": 3, "name": "UP", "source": "kernels/aiv/update.cpp", "core_type": "aiv",
             "signature": [D.IN] * 3 + [D.INOUT] * 4},
        ],
    }
    CASES = [
        {"name": "CaseSmall1", "platforms": ["a2a3sim", "a2a3"], "params": SMALL},
        {"name": "CaseScaled", "platforms": ["a2a3"], "params": {**SMALL, "block_size": 1 << 7, "scale": 0.125}},
        {"name": "CaseNext", "platforms": ["a5"], "params": dict(SMALL, head_dim=8 * 16)},
    ]

    def generate_args(self, params):
        specs = []
        for name, value in make_inputs(params):
            specs.append(TensorArg(name, value))
        return TaskArgsBuilder(*specs, Scalar("scale", 1.0))
