#!/usr/bin/env python3
"""Runs the tests of python/kerf (kerf/*_test.py) in an interpreter that has the frameworks.

run_tests.py [unittest's arguments]

Takes the first of KERF_PYTHON, .venv of the repository and the running interpreter that has torch, else one that has
numpy, else the running one. Prints one line for each case as GoogleTest does, so that tools/test counts them.
Exit code: 1 when a case failed.
"""

import os
import pathlib
import subprocess
import sys
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
CHOSEN = "KERF_TESTS_CHOSEN"


class Result(unittest.TestResult):
    """Says of each case how it went."""

    def startTest(self, test):
        super().startTest(test)
        self._begin = time.monotonic()
        print(f"[ RUN      ] {self._name(test)}", flush=True)

    @staticmethod
    def _name(test):
        return ".".join(test.id().split(".")[-2:])

    def _end(self, mark, test):
        print(f"[{mark:>9} ] {self._name(test)} ({(time.monotonic() - self._begin) * 1000:.0f} ms)", flush=True)

    def addSuccess(self, test):
        self._end("OK", test)

    def addSkip(self, test, reason):
        print(f"{self._name(test)}: Skipped\n{reason}")
        self._end("SKIPPED", test)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        print(self.failures[-1][1])
        self._end("FAILED", test)

    def addError(self, test, err):
        super().addError(test, err)
        print(self.errors[-1][1])
        if isinstance(test, unittest.TestCase):
            self._end("FAILED", test)


def has(python, package):
    command = [python, "-c", f"import importlib.util as u, sys; sys.exit(u.find_spec({package!r}) is None)"]
    try:
        return subprocess.run(command, cwd="/", capture_output=True, timeout=60, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def choose():
    candidates = [os.environ.get("KERF_PYTHON"), str(HERE.parent / ".venv/bin/python"), sys.executable]
    candidates = [path for path in candidates if path and os.access(path, os.X_OK)]
    for package in ("torch", "numpy"):
        for path in candidates:
            if has(path, package):
                return path
    return sys.executable


def main(argv):
    if CHOSEN not in os.environ:
        python = choose()
        os.environ.update({CHOSEN: python, "PYTHONDONTWRITEBYTECODE": "1"})
        os.execv(python, [python, __file__] + argv[1:])
    sys.path[0] = str(HERE)
    pattern = argv[1] if len(argv) > 1 else "*_test.py"
    suite = unittest.TestLoader().discover(str(HERE / "kerf"), pattern=pattern, top_level_dir=str(HERE))
    result = Result()
    suite.run(result)
    return 0 if result.wasSuccessful() and result.testsRun else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv))
