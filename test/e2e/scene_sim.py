#!/usr/bin/env python3
"""Runs kernels of real scene tests, with the arguments their tests give them, on kerf's own cores.

scene_sim.py CHECKOUT [--kerf BINARY] [--platform a2a3|a5] [--keep DIR] [--limit N] [--seed S] [--seconds N] [--show]

Takes every in-core kernel of every scene test of the platform whose arguments `kerf insight --dry-run` finds, runs it with
`kerf insight --simulator embedded`, and checks the directory with `kerf timeline check`. Where the kernel's name says what
it computes (an elementwise operation, a matrix product), it is run again with random inputs and its outputs are
compared with numpy. Prints the figures and what is wrong. Nothing of the checkout is executed but the kernels, in
kerf's sandbox.
"""

import argparse
import collections
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np

from scene_corpus import ROOT, case_of, modules, reason, scene_reader

MOST_ELEMENTS = 1 << 24
# bfloat16 as its bits.
DTYPES = {"BFLOAT16": np.uint16, "FLOAT32": np.float32, "FLOAT16": np.float16, "INT32": np.int32, "INT16": np.int16, "INT8": np.int8,
          "UINT8": np.uint8, "INT64": np.int64}


def product(a, b, size):
    """a @ b where that has the output's size; real kernels of that name may take many blocks at once."""
    if a.ndim != 2 or b.ndim != 2 or a.shape[0] * b.shape[1] != size:
        raise ValueError
    return a.astype(np.float64) @ b.astype(np.float64)


# What a kernel of this name computes from its tensor inputs and its scalars, in the order of their slots, for an output of so
# many elements.
REFERENCES = (
    (r"(^|_)add_scalar|scalar_add", lambda t, s, n: t[0] + as_float(s[0])),
    (r"qk_matmul$", lambda t, s, n: product(t[0], t[1].T, n)),
    (r"(^|_)(matmul|gemm(_tile)?)$", lambda t, s, n: product(t[0], t[1], n)),
    (r"(^|_)(add|vadd|vec_add|vector_add)$", lambda t, s, n: t[0] + t[1]),
    (r"(^|_)(sub|vsub)$", lambda t, s, n: t[0] - t[1]),
    (r"(^|_)(mul|vmul)$", lambda t, s, n: t[0] * t[1]),
)


def as_float(bits):
    return np.array([bits & 0xFFFFFFFF], dtype=np.uint32).view(np.float32)[0]


def drawn(random, arg):
    """Random values of an argument's type, and their bytes."""
    values = random.standard_normal(arg["shape"]) * 4
    if arg["dtype"] == "BFLOAT16":
        bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32) & np.uint32(0xFFFF0000)
        return bits.view(np.float32), (bits >> 16).astype(np.uint16).tobytes()
    values = values.astype(DTYPES[arg["dtype"]])
    return values, values.tobytes()


def numbers(path, dtype):
    values = np.fromfile(path, dtype=DTYPES[dtype])
    return (values.astype(np.uint32) << 16).view(np.float32) if dtype == "BFLOAT16" else values


def run(command, seconds=600):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, "", f"took more than {seconds} s")


class Corpus:
    def __init__(self, options):
        self.options = options
        self.counts = collections.Counter()
        self.problems = collections.Counter()
        self.random = np.random.default_rng(options.seed)

    def select(self):
        for path in modules(self.options.checkout):
            for scene_class in scene_reader.read_scene(str(path))["classes"]:
                case = case_of(scene_class, self.options.platform)
                if case is None:
                    continue
                for kernel in scene_class["incores"]:
                    yield path, scene_class["name"], case, kernel

    def words(self, path, scene_class, case, kernel):
        return [str(path), "--case", f"{scene_class}::{case}", "--func-id", str(kernel.get("func_id")), "--platform",
                self.options.platform, "--simpler-root", self.options.checkout]

    def one(self, path, scene_class, case, kernel, folder):
        words = self.words(path, scene_class, case, kernel)
        self.counts["kernels"] += 1
        spec = run([self.options.kerf, "args", *words])
        if spec.returncode != 0:
            return
        self.counts["arguments found"] += 1
        where = f"{path.relative_to(self.options.checkout)}: {kernel.get('name')}"
        done = run([self.options.kerf, "insight", *words, "--simulator", "embedded", "--json", "--output-dir", f"{folder}/ws"],
                   self.options.seconds)
        report = json.loads(done.stdout) if done.stdout.startswith("{") else {}
        if "simulator" not in report:
            said = report.get("error", {}).get("message", done.stderr)
            what = ("does not compile" if "does not compile" in said else
                    "issues no instruction" if "issued no instruction" in said else reason(said))
            self.note(f"not run: {what}", where, said)
            return
        self.counts["compiled and run"] += 1
        checked = run([self.options.kerf, "timeline", "check", report["simulator"]])
        self.counts["directory is sound"] += checked.returncode == 0
        if checked.returncode != 0:
            self.note("directory: " + reason(checked.stdout + checked.stderr), where, checked.stdout)
        self.counts["nothing found wrong"] += done.returncode == 0
        for problem in report.get("problems", []):
            self.note("says " + re.sub(r"\d+", "N", problem)[:110], where, problem)
        self.compare(words, json.loads(spec.stdout), kernel, folder, where)

    def compare(self, words, spec, kernel, folder, where):
        formula = next((f for pattern, f in REFERENCES if re.search(pattern, pathlib.Path(kernel["source"]).stem.removeprefix("kernel_"))),
                       None)
        if formula is None:
            return
        tensors = [arg for arg in spec["args"] if arg["kind"] == "tensor"]
        inputs = [arg for arg in tensors if arg.get("role", "input") == "input"]
        outputs = [arg for arg in tensors if arg.get("role", "input") != "input"]
        if len(outputs) != 1 or any(arg["dtype"] not in DTYPES for arg in tensors):
            return
        if sum(np.prod(arg["shape"], dtype=int) for arg in tensors) > MOST_ELEMENTS:
            return
        values = []
        for arg in inputs:
            value, data = drawn(self.random, arg)
            values.append(value)
            file = pathlib.Path(folder) / f"in{arg['index']}.bin"
            file.write_bytes(data)
            arg.pop("fill", None)
            arg["data"] = str(file)
        scalars = [int(arg.get("value", 0)) for arg in spec["args"] if arg["kind"] == "scalar"]
        output = outputs[0]
        size = int(np.prod(output["shape"], dtype=int))
        try:
            wanted = formula(values, scalars, size)
        except (ValueError, IndexError):
            return
        if wanted.size != size:
            return
        (pathlib.Path(folder) / "spec.json").write_text(json.dumps(spec), encoding="utf-8")
        self.counts["compared with numpy"] += 1
        done = run([self.options.kerf, "insight", *words, "--arg-spec", f"{folder}/spec.json", "--simulator", "embedded", "--json",
                    "--output-dir", f"{folder}/compare"])
        report = json.loads(done.stdout) if done.stdout.startswith("{") else {}
        got = next((entry for entry in report.get("outputs", []) if entry["slot"] == output["index"]), None)
        if got is None:
            self.note("not compared: no output", where, done.stderr)
            return
        result = numbers(got["file"], output["dtype"]).reshape(-1)
        scale = max(1.0, float(np.abs(wanted).max(initial=0)))
        if np.allclose(result.astype(np.float64), wanted.reshape(-1).astype(np.float64), rtol=2e-3, atol=1e-3 * scale):
            self.counts["the same as numpy"] += 1
        else:
            self.note("differs from numpy", where, f"{result[:4]} against {wanted.reshape(-1)[:4]}")

    def note(self, what, where, detail):
        self.problems[what] += 1
        if self.options.show:
            print(f"{where}: {what}: {detail.strip()[-400:]}", file=sys.stderr)

    def report(self):
        for name, count in self.counts.items():
            print(f"{count:6}  {name}")
        print("problems:")
        for name, count in self.problems.most_common():
            print(f"{count:6}  {name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout")
    parser.add_argument("--kerf", default=str(ROOT / "build/release/kerf"))
    parser.add_argument("--platform", default="a2a3", choices=("a2a3", "a5"))
    parser.add_argument("--keep", help="leave the workspaces in this folder")
    parser.add_argument("--limit", type=int, default=10**9, help="kernels looked at")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=600, help="for one kernel")
    parser.add_argument("--show", action="store_true", help="print each problem with its kernel")
    options = parser.parse_args()
    options.checkout = str(pathlib.Path(options.checkout).resolve())
    corpus = Corpus(options)
    for number, selected in enumerate(corpus.select()):
        if number >= options.limit:
            break
        with tempfile.TemporaryDirectory() as folder:
            corpus.one(*selected, folder)
            if options.keep and any(pathlib.Path(folder).iterdir()):
                shutil.copytree(folder, pathlib.Path(options.keep) / f"{number:04}", dirs_exist_ok=True)
    corpus.report()
    return 0


if __name__ == "__main__":
    sys.exit(main())
