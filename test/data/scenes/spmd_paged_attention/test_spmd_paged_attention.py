"""One source on both kinds of cores, in several blocks."""

from pathlib import Path

from simpler.task_interface import ArgDirection as D
from simpler_setup import SceneTestCase, scene_test

HERE = Path(__file__).resolve().parent
SHARED = {"source": str(HERE / "kernels/mix/attention.cpp"), "signature": [D.IN] * 5 + [D.INOUT] + [D.OUT] * 3}


def case(name, **more):
    params = {"batch": 2, "num_heads": 16, "kv_head_num": 1, "head_dim": 128, "block_size": 128, "context_len": 256,
              "max_model_len": 1024}
    params.update(more)
    return {"name": name, "platforms": [f"{family}{kind}" for family in ("a2a3", "a5") for kind in ("", "sim")],
            "params": params}


@scene_test(2, "tensormap_and_ringbuffer")
class TestSpmdAttention(SceneTestCase):
    CALLABLE = {
        "orchestration": {"source": "none.cpp", "signature": [D.IN]},
        "incores": [
            {"func_id": 0, "name": "PA_AIC", "core_type": "aic", **SHARED},
            {"func_id": 1, "name": "PA_AIV", "core_type": "aiv", **SHARED},
        ],
    }
    CASES = [case("Small"), case("Wide", num_heads=64)]
