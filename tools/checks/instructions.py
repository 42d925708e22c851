#!/usr/bin/env python3
"""Does every instruction that a kernel can call have a test that calls it?

instructions.py [ROOT]    exit code 1 and their names when some have none.

Instructions are the names in KERF_PTO_OPS and the functions in pto/kerf_pto that return a RecordEvent; a test calls
one when its name stands before "(" or "<" in a *_test.cc of src/sim, or as an argument of a macro there, outside
comments, or in a kernel of examples/kernels or test/sim/kernels that a test in test/e2e runs by its name. What missing.h
refuses is no instruction here; test/e2e/sim_test.cc compiles one of them.
"""

import pathlib
import re
import sys

# Recorded for the machine's own use; no kernel calls them by this name.
NOT_CALLED = {"GetValue", "SetValue", "TEST"}

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def instructions(root):
    names = set()
    for header in sorted((root / "pto" / "kerf_pto").glob("*.h")):
        text = COMMENT.sub("", header.read_text(encoding="utf-8"))
        if header.name == "missing.h":
            continue
        ops = re.search(r"#define KERF_PTO_OPS\(X\)(.*?)(?<!\\)\n", text, re.DOTALL)
        if ops:
            names |= set(re.findall(r"\bX\((\w+),", ops.group(1)))
        names |= set(re.findall(r"^KERF_PTO_[A-Z_]+\((\w+)[,)]", text, re.MULTILINE))
        names |= set(re.findall(r"^\s*RecordEvent (\w+)\(", text, re.MULTILINE)) - {"NAME"}
    return names - NOT_CALLED


def kernels_run(root):
    """Kernels whose name, quoted, stands in an end-to-end test of the simulator."""
    tests = "".join(test.read_text(encoding="utf-8") for test in sorted((root / "test" / "e2e").glob("sim*_test.cc")))
    for folder in ("examples/kernels", "test/sim/kernels"):
        for kernel in sorted((root / folder).glob("*.cpp")):
            if f'"{kernel.stem}"' in tests:
                yield kernel


def called(root):
    found = set()
    for kernel in kernels_run(root):
        found |= set(re.findall(r"\b(\w+)\s*[(<]", COMMENT.sub("", kernel.read_text(encoding="utf-8"))))
    for test in sorted((root / "src" / "sim").rglob("*_test.cc")):
        text = COMMENT.sub("", test.read_text(encoding="utf-8"))
        text = re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', text)
        found |= set(re.findall(r"\b(\w+)\s*[(<]", text))
        found |= set(re.findall(r"[(,]\s*(T\w+)\s*[,)]", text))
    return found


def main(arguments):
    root = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).resolve().parents[2])
    known = instructions(root)
    if not known:
        print("no instructions found in pto/kerf_pto")
        return 1
    missing = sorted(known - called(root))
    for name in missing:
        print(f"{name}: no test in src/sim calls it")
    print(f"{len(known) - len(missing)} of {len(known)} instructions have a test")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
