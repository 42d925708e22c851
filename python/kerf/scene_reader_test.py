import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

from kerf import scene_reader

SCENES = pathlib.Path(__file__).resolve().parents[2] / "test" / "data" / "scenes"


def read_text(text, case=None):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "test_it.py"
        path.write_text(text, encoding="utf-8")
        return scene_reader.read_scene(str(path), case)


def scene(body, before=""):
    """One class with this body; evaluated, as its dictionary."""
    text = before + "\n@scene_test(level=2, runtime='r')\nclass T(SceneTestCase):\n"
    text = "from simpler_setup import *\nfrom simpler_setup import scene_test, SceneTestCase\n" + text
    return read_text(text + "\n".join("    " + line for line in body.splitlines()))["classes"][0]


class ReadScene(unittest.TestCase):
    def test_reads_literals_names_and_expressions(self):
        one = scene_reader.read_scene(str(SCENES / "paged_attention" / "test_paged_attention.py"))["classes"][0]
        self.assertEqual(one["problems"], [])
        self.assertEqual((one["name"], one["level"], one["runtime"]), ("TestAttention", 2, "tensormap_and_ringbuffer"))
        self.assertEqual([kernel["name"] for kernel in one["incores"]], ["QK", "SF", "PV", "UP"])
        self.assertEqual(one["incores"][3]["signature"], ["IN"] * 3 + ["INOUT"] * 4)
        self.assertEqual(one["incores"][1]["source"], str(SCENES / "paged_attention/kernels/aiv/softmax.cpp"))
        self.assertEqual(one["cases"][1]["params"]["block_size"], 128)
        self.assertEqual(one["cases"][2]["params"]["head_dim"], 128)

    def test_follows_functions_paths_and_merges(self):
        one = scene_reader.read_scene(str(SCENES / "spmd_paged_attention/test_spmd_paged_attention.py"))["classes"][0]
        self.assertEqual(one["problems"], [])
        self.assertEqual(one["level"], 2)
        self.assertEqual(len(one["incores"][0]["signature"]), 9)
        self.assertEqual(one["incores"][1]["source"], str(SCENES / "spmd_paged_attention/kernels/mix/attention.cpp"))
        self.assertEqual(one["cases"][1]["params"]["num_heads"], 64)
        self.assertEqual(one["cases"][0]["platforms"], ["a2a3", "a2a3sim", "a5", "a5sim"])

    def test_follows_bases_in_other_files_and_copies(self):
        inherited, copied, unknown = scene_reader.read_scene(str(SCENES / "inherited/test_inherited.py"))["classes"]
        self.assertEqual(inherited["problems"], [])
        self.assertEqual(inherited["incores"][0]["name"], "add")
        self.assertEqual(inherited["incores"][0]["source"], str(SCENES / "vector/kernels/aiv/add.cpp"))
        self.assertEqual(inherited["cases"][0]["platforms"], ["a2a3"])
        self.assertEqual(copied["incores"][0]["name"], "copied_kernel")
        self.assertEqual([case["name"] for case in copied["cases"]], ["default", "more"])
        self.assertEqual(copied["cases"][1]["params"]["n"], 10)
        problems = [(problem["line"], problem["what"]) for problem in unknown["problems"]]
        self.assertEqual(problems[0], (26, "looks into os.environ, which kerf does not know"))
        self.assertEqual(problems[1], (28, "the name 'load_cases_from_the_network' is not known"))

    def test_what_a_statement_it_does_not_follow_may_change_is_not_known(self):
        for line, statement in ((4, "while n < 9: n += 1"), (4, "del table['a']"), (4, "del n"), (4, "async def f(): n = 2")):
            one = scene("CASES = [{'name': 'c', 'params': {'n': n, 'a': table}}]",
                        before=f"n, table = 1, {{'a': 1}}\n{statement}\n")
            found = [problem for problem in one["problems"] if "CALLABLE" not in problem["what"]]
            if statement.startswith("async"):
                self.assertEqual(found, [])
                continue
            self.assertEqual([problem["line"] for problem in found], [line], statement)
            self.assertIn("which kerf does not follow", found[0]["what"])

    def test_makes_no_bytes(self):
        one = scene("CASES = [{'name': 'c', 'params': {'n': bytes(10 ** 11)}}]")
        self.assertIn("bytes", "".join(problem["what"] for problem in one["problems"]))

    def test_makes_the_arguments_of_a_case(self):
        one = scene_reader.read_scene(str(SCENES / "vector/test_vector.py"), "default")["classes"][0]
        self.assertEqual(one["args"][0], {"kind": "tensor", "name": "a", "dtype": "FLOAT32", "shape": [4096], "fill": 2.0})
        self.assertEqual(one["args"][1]["shape"], [4096])
        self.assertEqual(one["args"][3], {"kind": "scalar", "name": "alpha", "ctype": "c_float", "value": 0.5})

    def test_says_why_arguments_cannot_be_made(self):
        path = str(SCENES / "paged_attention" / "test_paged_attention.py")
        one = scene_reader.read_scene(path, "CaseSmall1")["classes"][0]
        self.assertNotIn("args", one)
        self.assertIn("make_inputs(), which kerf does not follow", one["args_problem"]["what"])

    def test_a_loop_it_cannot_follow_leaves_nothing_behind(self):
        one = read_text("from simpler_setup import scene_test, TaskArgsBuilder, SceneTestCase\n"
                        "@scene_test(level=2, runtime='r')\nclass T(SceneTestCase):\n    CALLABLE = {'incores': []}\n"
                        "    CASES = [{'name': 'c'}]\n    def generate_args(self, params):\n        x = []\n"
                        "        for a in mystery():\n            x.append(a)\n        return TaskArgsBuilder(*x)\n", "c")["classes"][0]
        self.assertNotIn("args", one)

    def test_a_condition_it_cannot_know_makes_names_unknown(self):
        one = scene("CALLABLE = {'incores': [{'name': N, 'source': 's'}]}\nCASES = []", "import sys\nN = 'a'\nif sys.x:\n    N = 'b'\n")
        self.assertIn("depends on a condition", one["problems"][0]["what"])

    def test_never_runs_the_module(self):
        with tempfile.TemporaryDirectory() as folder:
            mark = pathlib.Path(folder) / "mark"
            scene("CALLABLE = {}\nCASES = []", f"open({str(mark)!r}, 'w').write('x')\nimport os\nos.system('touch {mark}')\n"
                  f"__import__('os').mkdir({str(mark)!r})\neval('1')\nexec('1')\n")
            self.assertFalse(mark.exists())

    def test_is_bounded(self):
        for text in ("x = 2 ** 10 ** 9", "x = 'a' * 10 ** 12", "x = [0] * 10 ** 12", "x = 1 << 10 ** 9", "x = [1 for i in range(10 ** 12)]",
                     "def f():\n    return f()\nx = f()", "x = [a for a in range(9999) for b in range(9999)]",
                     "x = " + "(" * 500 + ")" * 500, "x = " + "-" * 3000 + "1", "x = ['a' * 99999]\nfor i in range(99):\n    x = x + x",
                     "x = 9\nfor i in range(40):\n    x = x * x", "x = [1]\nfor i in x:\n    x.append(i)", "return 1", "break"):
            document = read_text(text + "\nfrom simpler_setup import scene_test\n@scene_test(level=2, runtime='r')\nclass T:\n    CALLABLE = x\n")
            self.assertIsInstance(json.dumps(document), str, text)

    def test_modules_that_import_each_other_end(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "a.py").write_text("from b import X\nY = 1\n")
            (pathlib.Path(folder) / "b.py").write_text("from a import Y\nX = Y\n")
            scene_reader.read_scene(folder + "/a.py")

    def test_level_three_gives_the_kernels_of_all_callables(self):
        one = scene("CALLABLE = {'orchestration': f, 'callables': [{'name': 'v', 'incores': [{'name': 'K', 'source': 's.cpp'}]}]}\n"
                    "CASES = [{'name': 'c'}]", "def f(a):\n    pass\n")
        self.assertEqual([kernel["name"] for kernel in one["incores"]], ["K"])

    def test_the_program_prints_json_and_uses_nothing_else(self):
        script = pathlib.Path(scene_reader.__file__)
        done = subprocess.run([sys.executable, "-I", "-S", str(script), str(SCENES / "vector/test_vector.py")], capture_output=True, check=True)
        self.assertEqual(json.loads(done.stdout)["classes"][0]["name"], "TestVector")
        self.assertEqual(subprocess.run([sys.executable, str(script)], capture_output=True, check=False).returncode, 2)

    def test_any_text_gives_a_document(self):
        import random
        seeds = [path.read_text() for path in SCENES.rglob("*.py")]
        draw = random.Random(1)
        for _ in range(150):
            text = list(draw.choice(seeds))
            for _ in range(draw.randrange(1, 12)):
                at = draw.randrange(len(text))
                text[at] = draw.choice(["(", ")", "[", "]", "{", "}", "*", "**", "x", "0", "\n", " ", ":", ",", "=", ""])
            document = read_text("".join(text), "default")
            self.assertIsInstance(json.dumps(document), str)


if __name__ == "__main__":
    unittest.main()
