import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

from kerf import scene_reader

HERE = pathlib.Path(__file__).resolve().parent
SCENES = HERE.parents[1] / "test" / "data" / "scenes"


def run(path, *words):
    done = subprocess.run([sys.executable, "-I", str(HERE / "scene_import.py"), str(path), *words], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


class ImportScene(unittest.TestCase):
    def test_tells_what_the_reader_tells(self):
        for name in ("paged_attention/test_paged_attention.py", "spmd_paged_attention/test_spmd_paged_attention.py", "vector/test_vector.py"):
            ran, read = run(SCENES / name), scene_reader.read_scene(str(SCENES / name))
            for one, other in zip(ran["classes"], read["classes"]):
                for key in ("name", "level", "runtime", "incores", "cases"):
                    self.assertEqual(one[key], other[key], f"{name}: {key}")

    def test_makes_the_arguments(self):
        one = run(SCENES / "vector/test_vector.py", "--case", "default")["classes"][0]
        self.assertEqual(one["args"][1]["shape"], [4096])
        self.assertEqual(one["args"][3], {"kind": "scalar", "name": "alpha", "ctype": "c_float", "value": 0.5})

    def test_runs_what_the_reader_cannot_follow(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "test_made.py"
            path.write_text("import functools\nfrom simpler_setup import SceneTestCase, scene_test\nprint('noise')\n"
                            "CASES_ = list(map(lambda n: {'name': f'c{n}', 'params': {}}, range(2)))\n"
                            "class Meta(type):\n    pass\n"
                            "@scene_test(level=2, runtime='r')\nclass T(SceneTestCase):\n    CALLABLE = functools.reduce(lambda a, b: {**a, **b}, "
                            "[{'orchestration': {}}, {'incores': [{'func_id': 0, 'name': 'K', 'source': 'k.cpp'}]}])\n    CASES = CASES_\n")
            self.assertTrue(scene_reader.read_scene(str(path))["classes"][0]["problems"])
            one = run(path)["classes"][0]
            self.assertEqual(one["problems"], [])
            self.assertEqual(one["incores"][0]["name"], "K")
            self.assertEqual([case["name"] for case in one["cases"]], ["c0", "c1"])

    def test_a_module_that_fails_is_named_with_its_line(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "test_bad.py"
            path.write_text("x = 1\nraise SystemExit('no')\n")
            document = run(path)
            self.assertEqual(document["classes"], [])
            self.assertEqual(document["problems"][0]["line"], 2)


if __name__ == "__main__":
    unittest.main()
