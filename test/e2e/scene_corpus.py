#!/usr/bin/env python3
"""How many kernels of real scene tests does `kerf insight --dry-run` resolve?

scene_corpus.py CHECKOUT [--kerf BINARY] [--platform a2a3|a5] [--limit N] [--show]

Takes every module of the checkout that uses @scene_test, every class of it with a case for the platform, and every in-core kernel of
that class, and runs it through the built binary. Prints the figures and the reasons for misses. Nothing of the checkout is executed.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
from kerf import scene_reader  # noqa: E402


def modules(checkout):
    for path in sorted(pathlib.Path(checkout).rglob("*.py")):
        if re.search(r"^@scene_test\(", path.read_text(encoding="utf-8", errors="replace"), re.MULTILINE):
            yield path


def reason(text):
    """A miss without its names, so that alike ones are counted together."""
    text = text.strip().splitlines()[-1] if text.strip() else "no message"
    for pattern, words in ((r"does not take the orchestration's arguments", "no recipe; the kernel does not take the orchestration's arguments"),
                           (r"generate_args could not be evaluated", "no recipe; generate_args could not be evaluated"),
                           (r"tensors, generate_args makes", "no recipe; generate_args makes another number of tensors"),
                           (r"does not cover args indices", "arguments do not cover all slots the kernel reads"),
                           (r"matches several", "several entries have this id or name"),
                           (r"Kernel does not look like", "the source has no kernel_entry(args)"),
                           (r"no parameter of the case", "a recipe needs a parameter the case does not have")):
        if re.search(pattern, text):
            return words
    return re.sub(r"(/[^\s:;,]+)+", "PATH", text)[:160]


def selector(kernel, scene_class):
    """By its id; by its source where the callables of a class use one id for several kernels."""
    same = {(one["source"], one.get("core_type")) for one in scene_class["incores"] if one.get("func_id") == kernel.get("func_id")}
    if len(same) > 1:
        return ["--kernel-source", str(kernel["source"])]
    return ["--func-id", str(kernel.get("func_id"))]


def case_of(scene_class, platform):
    for case in scene_class["cases"]:
        if any(str(name).startswith(platform) for name in case.get("platforms") or ()):
            return case["name"]
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout")
    parser.add_argument("--kerf", default=str(ROOT / "build/release/kerf"))
    parser.add_argument("--platform", default="a2a3", choices=("a2a3", "a5"))
    parser.add_argument("--limit", type=int, default=10**9)
    parser.add_argument("--show", action="store_true", help="print each miss")
    options = parser.parse_args()
    counts, misses, sources = collections.Counter(), collections.Counter(), collections.Counter()
    for path in modules(options.checkout):
        document = scene_reader.read_scene(str(path))
        counts["modules"] += 1
        for problem in document["problems"]:
            misses["module not read: " + reason(problem["what"])] += 1
        for scene_class in document["classes"]:
            counts["classes"] += 1
            counts["classes read whole"] += not scene_class["problems"]
            case = case_of(scene_class, options.platform)
            if case is None:
                continue
            counts["classes of the platform"] += 1
            for kernel in scene_class["incores"]:
                if counts["kernels"] >= options.limit:
                    break
                counts["kernels"] += 1
                with tempfile.TemporaryDirectory() as folder:
                    command = [options.kerf, "insight", str(path), "--case", f"{scene_class['name']}::{case}",
                               *selector(kernel, scene_class), "--platform", options.platform, "--dry-run", "--json",
                               "--output-dir", os.path.join(folder, "ws")]
                    done = subprocess.run(command, capture_output=True, text=True, check=False)
                if done.returncode == 0:
                    counts["resolved"] += 1
                    source = json.loads(done.stdout)["args_source"]
                    sources["recipe" if source.startswith("recipe") else "generate_args"] += 1
                else:
                    misses[reason(done.stderr)] += 1
                    if options.show:
                        print(f"{path}: {kernel.get('name')}: {done.stderr.strip()}", file=sys.stderr)
    for name, count in counts.items():
        print(f"{count:6}  {name}")
    for name, count in sources.most_common():
        print(f"{count:6}  by {name}")
    print("misses:")
    for name, count in misses.most_common():
        print(f"{count:6}  {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
