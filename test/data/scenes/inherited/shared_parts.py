KERNELS = "../vector/kernels/aiv"


def pick(name, suffix="_kernel"):
    if name == "copied":
        return name + suffix
    return None


class Base:
    CALLABLE = {"orchestration": {"signature": []},
                "incores": [{"func_id": 0, "source": f"{KERNELS}/add.cpp", "core_type": "aiv"}]}
    CASES = [{"name": "default", "platforms": ["a5"], "params": {"n": 16}}]
