"""What a class takes from another file, from copies and from functions; and one thing nobody can know."""

import os
from copy import deepcopy

from shared_parts import Base, KERNELS, pick

from simpler_setup import scene_test


@scene_test(level=2, runtime="host_build_graph")
class TestInherited(Base):
    CASES = [{**deepcopy(entry), "platforms": ["a2a3"]} for entry in Base.CASES]


@scene_test(level=2, runtime="host_build_graph")
class TestCopied(Base):
    CALLABLE = deepcopy(Base.CALLABLE)
    CALLABLE["incores"][0]["name"] = pick("copied")
    CASES = Base.CASES + [{"name": "more", "platforms": ["a2a3"], "params": {"n": 2**5 // 3}}]


@scene_test(level=2, runtime="host_build_graph")
class TestUnknown(Base):
    CALLABLE = {"orchestration": {}, "incores": [
        {"func_id": 0, "name": "K", "source": f"{KERNELS}/add.cpp", "core_type": os.environ["CORE"]},
    ]}
    CASES = load_cases_from_the_network()
